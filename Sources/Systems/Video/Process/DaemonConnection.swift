@_spi(FromOutside) import Conversions

#if Video
  import CDaemon
  import CGStreamer
  import Dispatch
  import Glibc
  import Synchronization
  import Tactus
  import Video

  /// The socket to the daemon. Reports are sent by a thread of its own, orders are received on the main thread. The process ends when the
  /// socket is closed.
  // Safe: the decoder is the main thread's; the rest is locked or constant.
  final class DaemonConnection: @unchecked Sendable {
    /// The limit of bytes that wait for a daemon that does not read; further frames and pictures are dropped.
    private static let limitBytes = 4 << 20

    private struct Outbox {
      var pieces: [[UInt8]] = []
      var bytes = 0
      var needsKey = false
      var dropped: UInt64 = 0
    }

    private let descriptor: Int32
    private let outbox = Mutex(Outbox())
    private let bell: Doorbell
    private var messages = VideoMessages()
    /// Open files received with orders to record, in the order of these orders.
    private var files: [Int32] = []
    private var take: (VideoOrder, Int32?) -> Void = { _, _ in }

    init(descriptor: Int32) throws(RuntimeError) {
      self.descriptor = descriptor
      bell = try Doorbell()
    }

    /// Waits for the daemon's first message and returns its settings. Ends the process if the daemon closes the socket or sends anything
    /// else.
    func firstSettings() -> VideoSettings {
      while true {
        if let order = next() {
          guard case .settings(let settings) = order else {
            complain("the daemon's first order is \(order); its settings were expected")
            exit(1)
          }
          return settings
        }
        read(flags: 0)
      }
    }

    /// Begins to read and write. The process ends by `exit` when the daemon closes the socket.
    ///
    /// - Parameter take: called with each order on the main thread; the file is the one to record into, or `nil` if none came with the
    ///   order.
    func start(take: @escaping (VideoOrder, Int32?) -> Void) {
      self.take = take
      // Orders that arrived together with the settings are delivered first.
      deliver()
      let channel = g_io_channel_unix_new(descriptor)
      g_io_add_watch(
        channel, GIOCondition(rawValue: G_IO_IN.rawValue | G_IO_HUP.rawValue | G_IO_ERR.rawValue),
        { _, _, context in
          Unmanaged<DaemonConnection>.fromOpaque(context!).takeUnretainedValue().receive()
          return 1
        }, Unmanaged.passUnretained(self).toOpaque())
      g_io_channel_unref(channel)
      // A serial queue whose block does not return serves as a thread.
      DispatchQueue(label: "video.reports").async { self.write() }
    }

    /// Queues a report without waiting. Any thread may call this.
    func send(_ report: VideoReport) {
      var isKey = true
      var isMedia = false
      switch report {
      case .fragment(let key, _): (isKey, isMedia) = (key, true)
      case .picture: isMedia = true
      default: break
      }
      let bytes = report.bytes
      let isTaken = outbox.withLock { outbox in
        if isMedia, outbox.bytes + bytes.count > Self.limitBytes || (outbox.needsKey && !isKey) {
          outbox.needsKey = true
          outbox.dropped += 1
          return false
        }
        if isMedia { outbox.needsKey = false }
        outbox.pieces.append(bytes)
        outbox.bytes += bytes.count
        return true
      }
      if isTaken { bell.button.ring() }
    }

    var dropped: UInt64 { outbox.withLock { $0.dropped } }

    private func write() {
      while true {
        bell.wait()
        let pieces = outbox.withLock { outbox in
          defer { (outbox.pieces, outbox.bytes) = ([], 0) }
          return outbox.pieces
        }
        for piece in pieces { write(piece) }
      }
    }

    private func write(_ piece: [UInt8]) {
      var start = 0
      while start < piece.count {
        let count = piece[start...].withUnsafeBytes {
          Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(truncatingIfNeeded: MSG_NOSIGNAL))
        }
        if count > 0 {
          start += count
        } else if errno != EINTR {
          exit(0)
        }
      }
    }

    private func receive() {
      read(flags: Int32(truncatingIfNeeded: MSG_DONTWAIT))
      deliver()
    }

    private func deliver() {
      while let order = next() {
        if case .record = order {
          take(order, files.isEmpty ? nil : files.removeFirst())
        } else {
          take(order, nil)
        }
      }
    }

    private func read(flags: Int32) {
      var bytes = [UInt8](repeating: 0, count: 65_536)
      var file: Int32 = -1
      let count = daemon_receive_with(descriptor, &bytes, bytes.count, flags, &file)
      if file >= 0 { files.append(file) }
      if count == -Int(EAGAIN) || count == -Int(EINTR) { return }
      guard count > 0 else { exit(0) }
      messages.append(bytes.prefix(count))
    }

    private func next() -> VideoOrder? {
      do throws(VideoMessageError) {
        return try messages.nextOrder()
      } catch {
        complain("the daemon sent \(error)")
        exit(1)
      }
    }
  }

  /// Writes one line to standard error, which the daemon logs.
  func complain(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    _ = Glibc.write(2, bytes, bytes.count)
  }
#endif
