import Service
import Tactus
import Wire

/// What the video process counts, as metrics.
struct VideoMetrics: MetricSource {
  private let door: VideoDoor

  init(_ door: VideoDoor) { self.door = door }

  func write(into writer: inout MetricsWriter) {
    let state = door.snapshot
    let word = VideoWords(state).state
    writer.gauge(
      "tactus_video_state", "1 for the state the video is in, 0 for the others.",
      VideoWords.states.map { .init($0 == word, ["state": $0]) })
    writer.gauge("tactus_video_rtsp_listening", "Whether the RTSP port is open.", [.init(state.door.port > 0)])
    writer.gauge(
      "tactus_video_viewers", "Who looks now.",
      [
        .init(Int(state.statistics.viewers), ["kind": "rtsp"]), .init(state.count(.fragments), ["kind": "mp4"]),
        .init(state.count(.pictures), ["kind": "mjpeg"]),
      ])
    let counted = state.statistics
    writer.gauge(
      "tactus_video_frames_per_second", "Encoded in the last second.", [.init(Int(counted.framesLastSecond))])
    writer.gauge(
      "tactus_video_encode_seconds", "A frame in the encoder, in the last second.",
      [
        .init(Double(counted.encodeMean) / 1e9, ["value": "mean"]),
        .init(Double(counted.encodeWorst) / 1e9, ["value": "max"]),
      ])
    writer.gauge(
      "tactus_video_first_frame_seconds", "From a wish to look to the first frame, the last time; absent before.",
      counted.firstFrame > 0 ? [.init(Double(counted.firstFrame) / 1e9)] : [])
    let detection = state.detection?.detection
    let detectTime = detection?.duration ?? 0
    writer.gauge(
      "tactus_video_detect_seconds", "From a picture's way to the detector to its boxes, the last time; absent before.",
      detectTime > 0 ? [.init(Double(detectTime) / 1e9)] : [])
    func counter(_ name: String, _ help: String, _ value: some BinaryInteger) {
      writer.counter("tactus_video_\(name)_total", help, [.init(value)])
    }
    // Those of the process begin anew with it, which Prometheus understands.
    counter("frames", "Encoded frames.", counted.frames)
    counter("key_frames", "Of them, key frames.", counted.keyFrames)
    counter("encoded_bytes", "Encoded.", counted.encodedBytes)
    counter("pictures", "JPEG pictures.", counted.pictures)
    counter("rtsp_viewers", "RTSP viewers that played.", counted.viewersEver)
    counter("refused_viewers", "RTSP viewers that were turned away.", counted.viewersRefused)
    counter("camera_starts", "Starts of camera and encoder.", counted.starts)
    counter("camera_failures", "Failures of camera and encoder.", counted.failures)
    counter(
      "dropped_fragments", "Fragments that a slow viewer of the service did not get.",
      state.viewers.values.reduce(Int64(clamping: counted.fragmentsDropped).addingSaturated(state.dropped)) {
        $0.addingSaturated($1.dropped)
      })
    counter("detector_pictures", "Pictures that the detector has answered.", detection?.pictures ?? 0)
    counter("detector_failures", "Ends of the detector that nobody asked for.", detection?.failures ?? 0)
    counter("process_starts", "Starts of the video process.", state.process.starts)
    counter("process_ends", "Ends of the video process that nobody asked for.", state.process.ends)
  }
}
