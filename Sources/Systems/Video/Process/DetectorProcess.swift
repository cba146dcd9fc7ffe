@_spi(FromOutside) import Conversions

#if Video
  import CDaemon
  import CProcess
  import Dispatch
  import Glibc
  import Synchronization
  import Tactus
  import Video

  /// The detector's program. It gets the newest picture each time it has answered, and is restarted when it ends, hangs or sends invalid
  /// output. Only this object's thread waits for the program, and no other thread waits for that one.
  // Safe: what is not locked or constant is the thread's.
  final class DetectorProcess: @unchecked Sendable {
    /// The longest time that the first answer may take. A large model takes long to load, and its first picture is the slowest.
    private static let firstPatience = Nanoseconds.seconds(60)
    private static let patience = Nanoseconds.seconds(10)

    private let detector: VideoDetector
    private let letterbox: Letterbox
    private let report: @Sendable (VideoDetection) -> Void
    private let picture = Mutex<[UInt8]?>(nil)
    private let bell: Doorbell

    private var machine = SupervisionMachine(at: MonotonicClock.now)
    private var leash: ProcessLeash?
    private var socket: Int32 = -1
    private var reader = DetectorReader()
    private var hasAnswered = false
    private var detection = VideoDetection(.starting)

    /// Creates a detector, whose thread runs from `start` on.
    ///
    /// - Parameters:
    ///   - width: the width of the camera's picture as shown, in pixels; `height` likewise.
    ///   - report: called for each answer and each end of the program, on the detector's thread.
    init(
      _ detector: VideoDetector, width: Int, height: Int, report: @escaping @Sendable (VideoDetection) -> Void
    ) throws(RuntimeError) {
      self.detector = detector
      letterbox = Letterbox(pictureWidth: width, pictureHeight: height, side: Int(detector.side))
      self.report = report
      bell = try Doorbell()
    }

    /// Starts the thread. The program itself is started with its first picture.
    func start() {
      // A serial queue whose block does not return serves as a thread.
      DispatchQueue(label: "video.detector").async { self.run() }
    }

    /// Offers a picture to the detector without waiting. Any thread may call this. `picture` is the square in RGB, three bytes a pixel,
    /// from its upper left corner. A picture that has not been sent yet is replaced.
    func show(_ picture: [UInt8]) {
      self.picture.withLock { $0 = picture }
      bell.button.ring()
    }

    private func run() {
      while true {
        bell.wait()
        let next = picture.withLock { picture in
          defer { picture = nil }
          return picture
        }
        guard let next else { continue }
        // The detector was not asked in between, so its silence is no fault.
        _ = machine.step(.heard, at: MonotonicClock.now)
        if machine.step(.time, at: MonotonicClock.now) == .spawn { spawn() }
        if socket >= 0 { detectObjects(in: next) }
      }
    }

    private func detectObjects(in picture: [UInt8]) {
      let began = MonotonicClock.now
      do throws(DetectorFailure) {
        try send(Array("picture \(detector.side)\n".utf8) + picture, until: began + limit)
        detection.objects = try receive(until: began + limit).objects(of: detector, in: letterbox)
        hasAnswered = true
        detection.phase = .running
        detection.cause = ""
        detection.pictures += 1
        detection.duration = UInt64(clamping: (MonotonicClock.now - began).count)
        report(detection)
      } catch {
        end(error.description)
      }
    }

    private var limit: Nanoseconds { hasAnswered ? Self.patience : Self.firstPatience }

    // MARK: beginning and end

    private func spawn() {
      var pair: [Int32] = [-1, -1]
      let made = daemon_socket_pair(&pair)
      guard made >= 0 else { return end("no socket for it: \(String(cString: strerror(-made)))") }
      // The detector is started through this program, which then becomes the detector: see `tactus-video detector`.
      let words = ["tactus-video", "detector"] + detector.command
      var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
      defer { for argument in arguments { free(argument) } }
      // The detector inherits this number, so that it ends before this process when memory runs out; once confined it could not set its own.
      process_offer_to_out_of_memory(600)
      let leash = ProcessLeash { daemon_spawn("/proc/self/exe", &arguments, pair[1], 2) }
      process_offer_to_out_of_memory(300)
      close(pair[1])
      guard leash.process > 0 else {
        close(pair[0])
        return end("it cannot be started: \(String(cString: strerror(-leash.process)))")
      }
      (self.leash, socket) = (leash, pair[0])
      (reader, hasAnswered) = (DetectorReader(), false)
      if detection.phase == .failed { return }
      report(detection)
    }

    private func end(_ cause: String) {
      var cause = cause
      if let leash {
        // A detector that has hung up is about to end; the short wait lets its exit status be logged.
        var status: Int32 = 0
        if cause.isEmpty { _ = poll(nil, 0, 200) }
        leash.end()
        while waitpid(leash.process, &status, 0) < 0, errno == EINTR {}
        close(socket)
        let signal = status & 0x7F
        if cause.isEmpty {
          cause = signal != 0 ? "it was ended by signal \(signal)" : "it ended with status \(status >> 8 & 0xFF)"
        }
      }
      (leash, socket) = (nil, -1)
      _ = machine.step(.ended(cause), at: MonotonicClock.now)
      detection.phase = .failed
      detection.cause = cause
      detection.failures += 1
      detection.objects = []
      report(detection)
    }

    // MARK: words

    private func send(_ bytes: [UInt8], until: TickInstant) throws(DetectorFailure) {
      var start = 0
      while start < bytes.count {
        let sent = bytes[start...].withUnsafeBytes { daemon_send(socket, $0.baseAddress!, $0.count) }
        if sent > 0 {
          start += sent
        } else if sent == -Int(EAGAIN) {
          try wait(Int16(truncatingIfNeeded: POLLOUT), until)
        } else {
          // The detector has ended, and may have written the reason before.
          return
        }
      }
    }

    private func receive(until: TickInstant) throws(DetectorFailure) -> DetectorAnswer {
      while true {
        if let answer = try reader.next() { return answer }
        try wait(Int16(truncatingIfNeeded: POLLIN), until)
        let bytes = [UInt8](unsafeUninitializedCapacity: 262_144) { bytes, count in
          count = max(0, recv(socket, bytes.baseAddress, bytes.count, Int32(truncatingIfNeeded: MSG_DONTWAIT)))
        }
        // The reason is empty here, because `end` reports how the process ended.
        guard !bytes.isEmpty else { throw DetectorFailure("") }
        reader.append(bytes)
      }
    }

    private func wait(_ events: Int16, _ until: TickInstant) throws(DetectorFailure) {
      var polled = pollfd(fd: socket, events: events, revents: 0)
      let left = max(0, (until - MonotonicClock.now).count / 1_000_000 + 1)
      guard poll(&polled, 1, Int32(clamping: left)) > 0 else {
        throw DetectorFailure("it did not answer within \(limit)")
      }
    }
  }
#endif
