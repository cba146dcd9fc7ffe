#if Video
  import Tactus
  import Video

  /// The part of the video process that GStreamer's threads may see, under a lock.
  struct PassingFrames {
    var settings = VideoSettings()
    var wantsFragments = false
    var muxer = FragmentedMP4()
    /// Of the fragments that were sent last.
    var configuration: [UInt8] = []
    var recorder: Recorder?
    var statistics = VideoStatistics()
    var wantedSince: TickInstant?
    var hasFrames = false
    var needsKey = false
    /// Why viewers are turned away, or `nil` if they are not.
    var refusal: String?

    /// Returns what the daemon is to be sent of a frame: nothing unless somebody wants fragments, nothing before the
    /// first key frame, and the initialisation segment before the first fragment of another configuration.
    mutating func reports(of frame: EncodedFrame) -> [VideoReport] {
      guard wantsFragments else { return [] }
      var reports: [VideoReport] = []
      if frame.isKey, let format = frame.format, format.configuration != configuration {
        configuration = format.configuration
        reports.append(
          .initialisation(
            codec: FragmentedMP4.codec(configuration: format.configuration) ?? "avc1.42C01F",
            bytes: FragmentedMP4.initialisation(
              configuration: format.configuration, width: format.width, height: format.height)))
      }
      guard !configuration.isEmpty else { return [] }
      let fragment = muxer.fragment(
        sample: frame.bytes, isKey: frame.isKey, at: frame.time,
        duration: 1_000_000_000 / UInt64(settings.framesPerSecond))
      reports.append(.fragment(isKey: frame.isKey, bytes: fragment))
      return reports
    }
  }
#endif
