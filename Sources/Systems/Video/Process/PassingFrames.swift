@_spi(FromOutside) import Conversions

#if Video
  import CGStreamer
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
    /// The reason why viewers are rejected, or `nil` if they are accepted.
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

  extension VideoProcess {
    // MARK: frames, on GStreamer's threads

    func pass(_ frame: EncodedFrame) {
      let fragment = passing.withLock { passing -> (recorder: Recorder?, reports: [VideoReport]) in
        passing.hasFrames = true
        passing.statistics.frames += 1
        let size = gst_buffer_get_size(frame.buffer)
        passing.statistics.encodedBytes += UInt64(size)
        if frame.isKey { passing.statistics.keyFrames += 1 }
        if let since = passing.wantedSince {
          passing.wantedSince = nil
          passing.statistics.firstFrame = UInt64(clamping: max(0, (MonotonicClock.now - since).count))
        }
        return (passing.recorder, passing.reports(of: frame))
      }
      server?.push(frame)
      sessions?.push(frame)
      fragment.recorder?.add(frame)
      for report in fragment.reports { connection?.send(report) }
    }

    func pass(picture bytes: [UInt8]) {
      passing.withLock { passing in
        passing.hasFrames = true
        passing.statistics.pictures += 1
      }
      connection?.send(.picture(bytes))
    }

    func pass(square: [UInt8], to detector: DetectorProcess) {
      // The camera counts as alive even if nothing else takes its pictures.
      passing.withLock { $0.hasFrames = true }
      detector.show(square)
    }
  }
#endif
