@_spi(FromOutside) import Conversions

#if Video
  import Tactus
  import Video

  /// The part of the video process's state that GStreamer's threads access, under a lock.
  struct PassingFrames {
    var settings = VideoSettings()
    var wantsFragments = false
    var muxer = FragmentedMP4()
    /// The decoder configuration of the fragments sent last; empty if none have been sent.
    var configuration: [UInt8] = []
    var recorder: Recorder?
    var statistics = VideoStatistics()
    var wantedSince: TickInstant?
    var hasFrames = false
    var needsKey = false
    /// Why viewers are rejected, or `nil` if they are accepted.
    var refusal: String?

    /// Returns the reports for the daemon about a frame: none unless the daemon wants fragments, none before the first key frame, and the
    /// initialisation segment before the first fragment of another configuration.
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
