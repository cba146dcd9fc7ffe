@_spi(FromOutside) import Conversions

#if Video
  import CGStreamer
  import Tactus
  import Video

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
      // A sign of the camera's life where nothing else takes its pictures.
      passing.withLock { $0.hasFrames = true }
      detector.show(square)
    }
  }
#endif
