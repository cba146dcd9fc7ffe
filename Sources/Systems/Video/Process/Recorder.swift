@_spi(FromOutside) import Conversions

#if Video
  import Dispatch
  import Glibc
  import Synchronization
  import Video

  /// Records frames into one file of fragmented MP4, which can be played up to its last whole frame however the recording ends.
  // Safe: the file and the muxer are the queue's; the rest is locked.
  final class Recorder: @unchecked Sendable {
    /// The limit of bytes that wait for a slow disk; beyond it the recording fails.
    private static let limitBytes = 16 << 20

    private struct State {
      var recording: VideoRecording
      var began: UInt64 = 0
      var waiting = 0
      var isOver = false
    }

    private let queue = DispatchQueue(label: "video.recorder")
    private let state: Mutex<State>
    private let limit: UInt64
    private let frameDuration: UInt64
    private let descriptor: Int32
    private var muxer = FragmentedMP4()
    private let report: @Sendable (VideoRecording) -> Void

    /// Creates the recorder of one file, which begins with the first key frame.
    ///
    /// - Parameters:
    ///   - file: the descriptor of an empty file, which the recorder owns from now on, because this process can open no files; `nil` if
    ///     none came with the order.
    ///   - path: the path of the file, for people.
    ///   - report: called for every change of phase, on any thread.
    init(
      file: Int32?, path: String, limitBytes: UInt64, framesPerSecond: UInt16,
      report: @escaping @Sendable (VideoRecording) -> Void
    ) {
      state = Mutex(State(recording: VideoRecording(.starting, path: path)))
      limit = limitBytes
      frameDuration = 1_000_000_000 / UInt64(framesPerSecond)
      self.report = report
      descriptor = file ?? -1
      if file == nil { end(.failed, "\(path): no file came with the order") } else { report(recording) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    var recording: VideoRecording { state.withLock { $0.recording } }
    var isOver: Bool { state.withLock { $0.isOver } }

    /// Adds a frame, on GStreamer's thread.
    func add(_ frame: EncodedFrame) {
      let (wanted, isFirst, isTooSlow) = state.withLock { state in
        let isFirst = state.recording.phase == .starting
        let wanted = !state.isOver && (!isFirst || frame.isKey)
        return (wanted, isFirst, state.waiting > Self.limitBytes)
      }
      guard wanted else { return }
      if isTooSlow { return end(.failed, "the disk is slower than the camera") }
      let sample = frame.bytes
      let (isKey, time) = (frame.isKey, frame.time)
      var head: [UInt8] = []
      if isFirst {
        guard let format = frame.format else { return }
        head = FragmentedMP4.initialisation(
          configuration: format.configuration, width: format.width, height: format.height)
        state.withLock { state in
          state.recording.phase = .running
          // A file begins at zero.
          state.began = time
        }
        report(recording)
      }
      let at = state.withLock { state in
        state.waiting += sample.count
        return time - min(time, state.began)
      }
      queue.async { [head] in
        self.write(head + self.muxer.fragment(sample: sample, isKey: isKey, at: at, duration: self.frameDuration))
        self.state.withLock { $0.waiting -= sample.count }
      }
    }

    /// Ends the recording after the frames that have been added.
    func stop() { queue.async { self.end(.stopped, "") } }

    private func write(_ bytes: [UInt8]) {
      let written = state.withLock { $0.isOver ? nil : $0.recording.bytes }
      guard let written else { return }
      guard written + UInt64(clamping: bytes.count) <= limit else { return end(.full, "") }
      var start = 0
      while start < bytes.count {
        let count = bytes[start...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        if count > 0 {
          start += count
        } else if errno != EINTR {
          return end(.failed, String(cString: strerror(errno)))
        }
      }
      state.withLock { $0.recording.bytes += UInt64(clamping: bytes.count) }
    }

    private func end(_ phase: VideoRecording.Phase, _ cause: String) {
      let isFirst = state.withLock { state in
        guard !state.isOver else { return false }
        state.isOver = true
        state.recording.phase = phase
        state.recording.cause = cause
        return true
      }
      if isFirst { report(recording) }
    }
  }
#endif
