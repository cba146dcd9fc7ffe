@_spi(FromOutside) import Conversions
import Tactus
import TactusDaemon
import Video

/// The state of the video at an instant.
public struct VideoSeen: Sendable {
  let snapshot: VideoSnapshot
  let description: VideoDescription
  let words: VideoWords
  let detection: VideoDetectionSeen
  let now: TickInstant

  init(_ snapshot: VideoSnapshot, _ description: VideoDescription, at now: TickInstant) {
    (self.snapshot, self.description, self.now) = (snapshot, description, now)
    words = VideoWords(snapshot)
    detection = VideoDetectionSeen(snapshot, description, at: now)
  }
}

extension Field {
  /// Creates a field that has no metric.
  fileprivate init<Value: Plain>(plain name: String, _ path: KeyPath<State, Value> & Sendable, _ meaning: String) {
    self.init(name, path, metric: .none, meaning)
  }

  /// Creates a field for a count that only grows, with the name of its metric.
  fileprivate init<Value: PlainNumber>(
    count name: String, _ path: KeyPath<State, Value> & Sendable, _ metric: FieldMetric, _ meaning: String
  ) {
    self.init(name, path, kind: .counter, metric: metric, meaning)
  }
}

/// The fields of the documents, under stable names. Counts of the video process start at zero when it is restarted, which Prometheus
/// supports.
extension Video {
  @DeclarationBuilder<Field<VideoSeen>> public static var seenFields: [Field<VideoSeen>] {
    Field("state", \.words.state, "1 for the state the video is in, 0 for the others.")
    Field(plain: "reason", \.words.reason, "The state in words: why it is so.")
    Field(plain: "wayOut", \.words.wayOut, "What to do about it; null when all is well.")
    Group("process", \.process, "The video process.") { ofProcess }
    Group("elements", \.snapshot.choice, "What was chosen at the camera's first start; null before.") {
      Field(plain: "source", \.source, "GStreamer elements that make the pictures.")
      Field(plain: "sourceReason", \.sourceReason, "Why this one.")
      Field(plain: "encoder", \.encoder, "The H.264 encoder.")
      Field(plain: "encoderReason", \.encoderReason, "Why this one.")
    }
    Group("rtsp", \.rtsp, "The RTSP port.") {
      Field("listening", \.isListening, metric: "rtsp_listening", "Whether the RTSP port is open.")
      Field(plain: "port", \.port, "Its number.")
      Field(plain: "path", \.path, "Of the stream.")
      Field(plain: "asksPassword", \.asksPassword, "Whether it asks for a user and a password.")
      Field(plain: "cause", \.cause, "Why it is not open.")
    }
    Group("picture", \.description, "The stream as it is configured.") {
      Field(plain: "width", \.width, "As shown, in pixels.")
      Field(plain: "height", \.height, "As shown, in pixels.")
      Field(plain: "framesPerSecond", \.framesPerSecond, "Most frames per second.")
      Field(plain: "bitsPerSecond", \.bitsPerSecond, "Bits per second, asked of the encoder.")
      Field(plain: "rotation", \.rotation, "Degrees clockwise.")
      Field(plain: "keyFrameInterval", \.keyFrameInterval, "From one key frame to the next, in frames.")
    }
    Group("rate", \.rate, "What the encoder makes of pictures now, as the worst viewer's link takes it.") {
      Field(
        "bitsPerSecond", \.bitsPerSecond, metric: "rate_bits_per_second",
        "Bits per second, asked of the encoder; from `camera.min_bitrate` to `camera.bitrate`.")
      Field("framesPerSecond", \.framesPerSecond, metric: "rate_frames_per_second", "Most frames per second.")
      Field(plain: "cause", \.cause, "Why it is so.")
      Field(plain: "reason", \.reason, "The same in words.")
      Field("lost", \.lost, metric: "lost_ratio", "Of the worst viewer's packets, a ratio.")
      Field(plain: "waitMs", \.waitMilliseconds, "Data waits so long on its way to the worst viewer.")
      Field(
        "wait", \.waitSeconds, when: .metrics, metric: "wait_seconds",
        "Data waits so long on its way to the worst viewer.")
    }
    Group("viewers", \.viewers, "Who looks.") {
      Field("rtsp", \.rtsp, metric: .named("viewers", label: "kind", value: "rtsp"), "Who looks now.")
      Field("whep", \.whep, metric: .named("viewers", label: "kind", value: "whep"), "Sessions of WebRTC.")
      Field("mp4", \.mp4, metric: .named("viewers", label: "kind", value: "mp4"), "Streams of the service.")
      Field(
        "mjpeg", \.mjpeg, metric: .named("viewers", label: "kind", value: "mjpeg"),
        "Streams of the service, snapshots too.")
      Field(plain: "limit", \.limit, "How many may, of RTSP and, apart, of the service's streams.")
    }
    Group("statistics", \.statistics, "What the process counts.") { ofStatistics }
    Group(
      "detection", \.detection,
      "The detector; each of its answers is an event `detections` for subscribers of telemetry, too."
    ) { ofDetection }
    Field(
      plain: "recordFolder", \.description.recordFolder,
      "Where recordings are kept; null: nothing can be recorded, since `video.record_dir` is not set.")
    Group("recording", \.recording, "The newest recording; null if there was none.") {
      Field(plain: "state", \.state, "What it does.")
      Field(plain: "path", \.path, "Its file.")
      Field(plain: "bytes", \.bytes, "Its size so far.")
      Field(plain: "cause", \.cause, "Why it ended.")
    }
    Field(
      "droppedFragments", \.droppedFragments, kind: .counter, when: .metrics, metric: "dropped_fragments",
      "Fragments that a slow viewer of the service did not get.")
  }

  @DeclarationBuilder<Field<VideoProcessSeen>> private static var ofProcess: [Field<VideoProcessSeen>] {
    Field(plain: "id", \.report.process, "Its number.")
    Field(count: "starts", \.report.starts, "process_starts", "Starts of the video process.")
    Field(count: "ends", \.report.ends, "process_ends", "Ends of the video process that nobody asked for.")
    Field(plain: "cause", \.report.cause, "Why it does not run, or how the last one ended.")
    Field(plain: "retryMs", \.retryMilliseconds, "Until it is started again.")
  }

  @DeclarationBuilder<Field<VideoCountsSeen>> private static var ofStatistics: [Field<VideoCountsSeen>] {
    Field(count: "frames", \.counted.frames, "frames", "Frames encoded since the video process started.")
    Field(count: "keyFrames", \.counted.keyFrames, "key_frames", "Of them, key frames.")
    Field(count: "encodedBytes", \.counted.encodedBytes, "encoded_bytes", "Encoded.")
    Field(count: "pictures", \.counted.pictures, "pictures", "JPEG pictures.")
    Field(count: "starts", \.counted.starts, "camera_starts", "Starts of camera and encoder.")
    Field(count: "failures", \.counted.failures, "camera_failures", "Failures of camera and encoder.")
    Field("framesPerSecond", \.counted.framesLastSecond, metric: "frames_per_second", "Encoded in the last second.")
    Field(plain: "bitsPerSecond", \.counted.bitsLastSecond, "Encoded in the last second.")
    Field(plain: "encodeMeanMs", \.encodeMean, "A frame in the encoder, in the last second: the mean.")
    Field(plain: "encodeWorstMs", \.encodeWorst, "A frame in the encoder, in the last second: the worst.")
    Field(plain: "firstFrameMs", \.firstFrame, "From a wish to look to the first encoded frame, the last time.")
    Field(count: "viewersEver", \.counted.viewersEver, "rtsp_viewers", "RTSP viewers that played.")
    Field(count: "viewersRefused", \.counted.viewersRefused, "refused_viewers", "RTSP viewers that were turned away.")
    Field(plain: "fragmentsDropped", \.counted.fragmentsDropped, "Fragments that the daemon did not take in time.")
    Field(
      "encodeMean", \.encodeMeanSeconds, when: .metrics,
      metric: .named("encode_seconds", label: "value", value: "mean"), "A frame in the encoder, in the last second.")
    Field(
      "encodeWorst", \.encodeWorstSeconds, when: .metrics,
      metric: .named("encode_seconds", label: "value", value: "max"), "A frame in the encoder, in the last second.")
    Field(
      "firstFrame", \.firstFrameSeconds, when: .metrics, metric: "first_frame_seconds",
      "From a wish to look to the first frame, the last time; absent before.")
  }

  @DeclarationBuilder<Field<VideoDetectionSeen>> private static var ofDetection: [Field<VideoDetectionSeen>] {
    Field(plain: "state", \.state, "What the detector does.")
    Field(plain: "reason", \.reason, "The state in words: why it is so.")
    Field(
      count: "pictures", \.pictures, "detector_pictures",
      "Pictures that the detector has answered since the video process started.")
    Field(
      count: "failures", \.failures, "detector_failures",
      "Ends of the detector that nobody asked for; it is started again.")
    Field(plain: "detectMs", \.detectMilliseconds, "From a picture's way to the detector to its boxes, the last time.")
    Items(
      "objects", \.objects, each: "object",
      "In the last picture, the most certain first; empty when that is two seconds old."
    ) {
      Field(plain: "label", \.label, "What it is.")
      Field(plain: "confidence", \.confidence, "How sure that is, a ratio.")
      Field(plain: "left", \.left, "Fraction of the picture's width.")
      Field(plain: "top", \.top, "Fraction of the picture's height.")
      Field(plain: "width", \.width, "Fraction of the picture's width.")
      Field(plain: "height", \.height, "Fraction of the picture's height.")
    }
    Field(
      "detect", \.detectSeconds, when: .metrics, metric: "detect_seconds",
      "From a picture's way to the detector to its boxes, the last time; absent before.")
  }
}

// Parts of the state, in the form that fields need.

struct VideoProcessSeen: Sendable {
  let report: ChildReport
  let now: TickInstant
  var retryMilliseconds: Double? { report.nextStart.map { max(.zero, $0 - now).inMilliseconds } }
}

struct VideoRTSPSeen: Sendable {
  let state: VideoRTSPState
  let asksPassword: Bool
  let path = "/stream"
  var isListening: Bool { state.port > 0 && state.cause.isEmpty }
  var port: UInt16? { state.port > 0 ? state.port : nil }
  var cause: String? { state.cause.isEmpty ? nil : state.cause }
}

struct VideoViewersSeen: Sendable {
  let rtsp: UInt32
  let whep, mp4, mjpeg, limit: Int
}

/// The rate of the encoder and the state of the links.
struct VideoRateSeen: Sendable {
  let counted: VideoStatistics
  let configured: VideoDescription
  /// The rates of the process, or the configured ones until the process has reported its own.
  var bitsPerSecond: Int { counted.rateBits > 0 ? Int(counted.rateBits) : configured.bitsPerSecond }
  var framesPerSecond: Int { counted.rateFrames > 0 ? Int(counted.rateFrames) : configured.framesPerSecond }
  var cause: String { "\(counted.rateCause)" }
  var lost: Double { Double(counted.lostThousandths) / 1000 }
  var waitMilliseconds: UInt32 { counted.waitMilliseconds }
  var waitSeconds: Double { Double(counted.waitMilliseconds) / 1000 }
  var reason: String {
    switch counted.rateCause {
    case .configured: "as configured"
    case .loss: "a viewer's link loses what is sent faster"
    case .wait: "a viewer's link holds up what is sent faster"
    case .rising: "the viewers' links take more again"
    }
  }
}

struct VideoCountsSeen: Sendable {
  let counted: VideoStatistics
  private func milliseconds(_ value: UInt64) -> Double? { value == 0 ? nil : Double(value / 1000) / 1000 }
  var encodeMean: Double? { milliseconds(counted.encodeMean) }
  var encodeWorst: Double? { milliseconds(counted.encodeWorst) }
  var firstFrame: Double? { milliseconds(counted.firstFrame) }
  var encodeMeanSeconds: Double { Double(counted.encodeMean) / 1e9 }
  var encodeWorstSeconds: Double { Double(counted.encodeWorst) / 1e9 }
  var firstFrameSeconds: Double? { counted.firstFrame > 0 ? Double(counted.firstFrame) / 1e9 : nil }
}

struct VideoRecordingSeen: Sendable {
  let recording: VideoRecording
  var state: String { "\(recording.phase)" }
  var path: String { recording.path }
  var bytes: UInt64 { recording.bytes }
  var cause: String? { recording.cause.isEmpty ? nil : recording.cause }
}

extension VideoSeen {
  var process: VideoProcessSeen { VideoProcessSeen(report: snapshot.process, now: now) }
  var rate: VideoRateSeen { VideoRateSeen(counted: snapshot.statistics, configured: description) }
  var rtsp: VideoRTSPSeen { VideoRTSPSeen(state: snapshot.rtsp, asksPassword: description.asksPassword) }
  var viewers: VideoViewersSeen {
    VideoViewersSeen(
      rtsp: snapshot.statistics.viewers, whep: snapshot.sessions.count, mp4: snapshot.count(.fragments),
      mjpeg: snapshot.count(.pictures),
      limit: description.viewerLimit)
  }
  var statistics: VideoCountsSeen { VideoCountsSeen(counted: snapshot.statistics) }
  var recording: VideoRecordingSeen? { snapshot.recording.map { VideoRecordingSeen(recording: $0) } }
  var droppedFragments: Int64 {
    snapshot.viewers.values.reduce(
      Int64(clamping: snapshot.statistics.fragmentsDropped).addingSaturated(snapshot.dropped)
    ) { $0.addingSaturated($1.dropped) }
  }
}
