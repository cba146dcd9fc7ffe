import CDaemon
import Dispatch
import Glibc
import Logging
import Service
import Synchronization
import Tactus
import TactusDaemon
import Video
import Wire

/// `tactus-video` as a child: started, fed with orders, listened to, killed when it hangs, started again when it has ended, by a
/// thread of its own. `VideoSupervision` decides.
final class VideoChild: Sendable {
  private struct State {
    var orders: [(order: VideoOrder, file: Int32?)] = []
    /// Nil: none runs.
    var process: pid_t?
    /// What the next process is told.
    var settings: VideoSettings
    /// A process with other settings runs.
    var isOutdated = false
    /// To be called when one with these has been told them.
    var told: [@Sendable () -> Void] = []
  }

  private let program: String
  private let take: @Sendable (VideoReport) -> Void
  private let changed: @Sendable (VideoProcessReport) -> Void
  private let logger: Logger
  private let state: Mutex<State>
  private let isStopping = Atomic<Bool>(false)
  private let bell: Doorbell
  private let ended = DispatchGroup()
  /// Makes files to record into, which may wait for a disk.
  private let files = DispatchQueue(label: "video.files")

  /// - Parameters:
  ///   - program: its path.
  ///   - take: each report. On the child's thread, as `changed`.
  ///   - changed: it has started or ended.
  init(
    program: String, settings: VideoSettings, logger: Logger, take: @escaping @Sendable (VideoReport) -> Void,
    changed: @escaping @Sendable (VideoProcessReport) -> Void
  ) throws(RuntimeError) {
    (self.program, self.logger, self.take, self.changed) = (program, logger, take, changed)
    state = Mutex(State(settings: settings))
    bell = try Doorbell()
    Self.withArguments(program) { _ = daemon_declare(program, $0) }
  }

  /// The command line, as C has it, while `body` runs.
  private static func withArguments<Result>(
    _ program: String, _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
  ) -> Result {
    let words = [program, "serve", "--descriptor", "3"]
    let arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    return body(arguments)
  }

  static var standardProgram: String { DaemonProgram.beside("tactus-video") }

  /// Any thread; lost while no process runs, which is told everything when it starts. The file to record into is made here and handed
  /// over open: the process itself can make none.
  func order(_ order: VideoOrder) {
    switch order {
    case .record(let path, _): files.async { self.record(order, into: path) }
    // Behind the beginning that it ends.
    case .stopRecording: files.async { self.enqueue(order, file: nil) }
    case .settings, .want, .listCameras: enqueue(order, file: nil)
    }
  }

  /// Ends the process and starts one with other settings: who looks joins anew, and a recording ends.
  ///
  /// - Parameter told: called when that one has been told them. Any thread.
  func replace(_ settings: VideoSettings, told: @escaping @Sendable () -> Void) {
    state.withLock { state in
      state.settings = settings
      state.isOutdated = true
      state.told.append(told)
    }
    bell.button.ring()
  }

  private func record(_ order: VideoOrder, into path: String) {
    let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o640)
    guard file < 0 else { return enqueue(order, file: file) }
    var recording = VideoRecording(.failed, path: path)
    recording.cause = "\(path): \(String(cString: strerror(errno)))"
    take(.recording(recording))
  }

  private func enqueue(_ order: VideoOrder, file: Int32?) {
    let isTaken = state.withLock { state in
      guard state.process != nil, state.orders.count < 256 else { return false }
      state.orders.append((order, file))
      return true
    }
    if !isTaken, let file { close(file) }
    bell.button.ring()
  }

  func start() {
    ended.enter()
    // A serial queue whose block does not return until the end: a thread, which the kernel binds the child to.
    DispatchQueue(label: "video.process").async {
      var run = VideoChildRun(self)
      run.run()
      self.ended.leave()
    }
  }

  /// The longest wait for the thread: the machine waits less, but a process may have closed its end and still hang in a driver.
  private static let patience = SupervisionMachine.endLimit + .seconds(1)

  /// Ends the process; waits for it, but not for a driver that hangs: what comes after in an orderly stop must not wait for a camera.
  func stop() {
    isStopping.store(true, ordering: .releasing)
    state.withLock { if let process = $0.process { _ = daemon_send_signal(process, SIGKILL) } }
    bell.button.ring()
    let end = MonotonicClock.now + Self.patience
    _ = ended.wait(timeout: DispatchTime(uptimeNanoseconds: UInt64(clamping: end.nanoseconds)))
  }

  /// One thread's work from start to end.
  private struct VideoChildRun: ~Copyable {
    private let child: VideoChild
    private var supervision: VideoSupervision
    private var process: pid_t = 0
    private var socket: Int32 = -1
    private var errors: Int32 = -1
    private var lines = ErrorLines()

    init(_ child: VideoChild) {
      self.child = child
      supervision = VideoSupervision(at: MonotonicClock.now)
    }

    mutating func run() {
      while true {
        let isStopping = child.isStopping.load(ordering: .acquiring)
        if isStopping { step(.stop) }
        step(.time)
        if supervision.isStopped { break }
        wait()
      }
      // One that is left hangs in a driver: it shows nothing.
      report()
    }

    private mutating func step(_ event: SupervisionMachine.Event) {
      switch supervision.step(event, at: MonotonicClock.now) {
      case .none: break
      case .spawn: spawn()
      case .tell: report()
      case .kill:
        switch event {
        case .stop: break
        case .replace:
          child.logger.info("the video process is replaced by one with other settings", metadata: ["system": "video"])
        case .time, .heard, .ended, .nonsense:
          child.logger.error(
            "the video process is killed", metadata: ["system": "video", "reason": .string("\(event)")])
        }
        _ = daemon_send_signal(process, SIGKILL)
        if event != .replace { report() }
      }
    }

    /// For the child, for an order, or for the machine's deadline.
    private mutating func wait() {
      var limit: Int32 = -1
      if let deadline = supervision.nextDeadline {
        limit = Int32(clamping: max(0, (deadline - MonotonicClock.now).count / 1_000_000 + 1))
      }
      var polls = [child.bell.descriptor, socket, errors].map {
        pollfd(fd: $0, events: Int16(truncatingIfNeeded: POLLIN), revents: 0)
      }
      guard poll(&polls, 3, limit) > 0 else { return }
      if polls[2].revents != 0 { hearErrors() }
      if polls[1].revents != 0 { hear() }
      guard polls[0].revents != 0 else { return }
      child.bell.clear()
      let (orders, isOutdated) = child.state.withLock { state in
        defer { (state.orders, state.isOutdated) = ([], false) }
        return (state.orders, state.isOutdated)
      }
      for (order, file) in orders {
        send(order, file: file)
        if let file { close(file) }
      }
      if isOutdated { step(.replace) }
    }

    // MARK: beginning and end

    private mutating func spawn() {
      var pair: [Int32] = [-1, -1]
      var pipes: [Int32] = [-1, -1]
      let made = min(daemon_socket_pair(&pair), daemon_socket_pair(&pipes))
      guard made >= 0 else {
        for descriptor in pair + pipes where descriptor >= 0 { close(descriptor) }
        return ends("no socket for it: \(String(cString: strerror(-made)))")
      }
      let spawned = VideoChild.withArguments(child.program) {
        daemon_spawn(child.program, $0, pair[1], pipes[1])
      }
      close(pair[1])
      close(pipes[1])
      guard spawned > 0 else {
        close(pair[0])
        close(pipes[0])
        let advice = spawned == -ENOENT ? "; it belongs beside tactus: swift build --product tactus-video" : ""
        return ends("\(child.program): \(String(cString: strerror(-spawned)))\(advice)")
      }
      (process, socket, errors) = (spawned, pair[0], pipes[0])
      lines = ErrorLines()
      let (settings, told) = child.state.withLock { state in
        state.process = spawned
        for case let file? in state.orders.map(\.file) { close(file) }
        state.orders = []
        state.isOutdated = false
        // `stop` may have come before there was a process to end.
        if child.isStopping.load(ordering: .acquiring) { _ = daemon_send_signal(spawned, SIGKILL) }
        defer { state.told = [] }
        return (state.settings, state.told)
      }
      send(.settings(settings))
      for done in told { done() }
      report()
    }

    /// The process has closed its end, which it does by ending.
    private mutating func reap() {
      _ = daemon_send_signal(process, SIGKILL)
      // Under the lock: its number is no other process's while `stop` may send to it.
      var information = siginfo_t()
      while waitid(P_PID, id_t(clamping: process), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
      var status: Int32 = 0
      child.state.withLock { state in
        waitpid(process, &status, 0)
        state.process = nil
      }
      hearErrors()
      close(socket)
      close(errors)
      (process, socket, errors) = (0, -1, -1)
      let signal = status & 0x7F
      let end = signal != 0 ? "it was ended by signal \(signal)" : "it ended with status \(status >> 8 & 0xFF)"
      ends(lines.last.map { "\(end): \($0)" } ?? end)
    }

    private mutating func ends(_ cause: String) {
      let news = supervision.ended(cause, at: MonotonicClock.now)
      report()
      // An end that the daemon's own brought about is none to tell of.
      guard let news, !child.isStopping.load(ordering: .acquiring) else { return }
      child.logger.error(
        "the video process ended; it is started again", metadata: ["system": "video", "reason": .string(news)])
    }

    private func report() { child.changed(supervision.report(process: process > 0 ? process : nil)) }

    // MARK: words

    private mutating func send(_ order: VideoOrder, file: Int32? = nil) {
      guard process > 0 else { return }
      let bytes = order.bytes
      let sent =
        file.map { daemon_send_with(socket, bytes, bytes.count, $0) } ?? daemon_send(socket, bytes, bytes.count)
      // A process that takes so little as to fill its socket hangs.
      if sent != bytes.count, sent != -Int(EPIPE) { step(.nonsense("it does not take its orders")) }
    }

    private mutating func hear() {
      let bytes = [UInt8](unsafeUninitializedCapacity: 262_144) { bytes, count in
        count = max(0, recv(socket, bytes.baseAddress, bytes.count, Int32(truncatingIfNeeded: MSG_DONTWAIT)))
      }
      guard !bytes.isEmpty else { return reap() }
      if let event = supervision.hear(bytes, at: MonotonicClock.now, child.take) { step(event) }
    }

    private mutating func hearErrors() {
      guard errors >= 0 else { return }
      var polled = pollfd(fd: errors, events: Int16(truncatingIfNeeded: POLLIN), revents: 0)
      guard poll(&polled, 1, 0) > 0, polled.revents & Int16(truncatingIfNeeded: POLLIN) != 0 else {
        // It has closed its standard error, and polls readable for good.
        if polled.revents & Int16(truncatingIfNeeded: POLLHUP) != 0, socket >= 0 {
          close(errors)
          errors = -1
        }
        return
      }
      let bytes = [UInt8](unsafeUninitializedCapacity: 4096) { bytes, count in
        count = max(0, read(errors, bytes.baseAddress, bytes.count))
      }
      for line in lines.take(bytes) {
        child.logger.warning("the video process says", metadata: ["system": "video", "line": .string(line)])
      }
    }
  }
}

/// Lines of a process's standard error: the first 50, which say what there is to say.
private struct ErrorLines {
  private var rest: [UInt8] = []
  private var count = 0
  private(set) var last: String?

  mutating func take(_ bytes: [UInt8]) -> [String] {
    rest += bytes
    var lines: [String] = []
    while let end = rest.firstIndex(of: 0x0A) {
      let line = String(decoding: rest[..<end].prefix(500), as: UTF8.self)
      rest.removeFirst(end + 1)
      guard !line.isEmpty else { continue }
      last = line
      count += 1
      if count <= 50 { lines.append(line) }
    }
    if rest.count > 4096 { rest = [] }
    return lines
  }
}
