import CDaemon
@_spi(FromOutside) import Conversions
import Glibc
import Logging
import Tactus

/// The work of a child's thread from start to end.
struct ChildRun<Talk: ChildTalk>: ~Copyable {
  private let child: Child<Talk>
  private var supervision: ChildSupervision<Talk>
  private var process: pid_t = 0
  private var socket: Int32 = -1
  private var errors: Int32 = -1
  private var lines = ChildErrorLines()
  private var isKilled = false
  private var title: String { child.program.title }

  init(_ child: Child<Talk>) {
    self.child = child
    supervision = ChildSupervision(at: MonotonicClock.now, silence: child.program.silence)
  }

  mutating func run() {
    while true {
      let isStopping = child.isStopping.load(ordering: .acquiring)
      if isStopping { step(.stop) }
      step(.time)
      if supervision.isStopped { break }
      wait()
    }
    // A process that still exists here hangs in a driver and does nothing.
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
      case .replace: child.logger.info("\(title) is replaced by one with other settings")
      case .time, .heard, .ended, .nonsense:
        child.logger.error("\(title) is killed", metadata: ["reason": .string("\(event)")])
      }
      _ = daemon_send_signal(process, SIGKILL)
      isKilled = true
      if event != .replace { report() }
    }
  }

  /// Waits for a message of the child, for an order, or for the deadline of the supervision.
  private mutating func wait() {
    var limit: Int32 = -1
    if let deadline = supervision.nextDeadline {
      limit = Int32(clamping: max(0, (deadline - MonotonicClock.now).count / 1_000_000 + 1))
    }
    // The end of a process does not close its socket if processes that it has started still have it.
    if process > 0 { limit = min(limit < 0 ? .max : limit, isKilled ? 50 : 1_000) }
    var polls = [child.bell.descriptor, socket, errors].map {
      pollfd(fd: $0, events: Int16(truncatingIfNeeded: POLLIN), revents: 0)
    }
    guard poll(&polls, 3, limit) > 0 else {
      if hasEnded { reap() }
      return
    }
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
    let program = child.program
    let spawned = program.withArguments { daemon_spawn(program.path, $0, pair[1], pipes[1]) }
    close(pair[1])
    close(pipes[1])
    guard spawned > 0 else {
      close(pair[0])
      close(pipes[0])
      let advice = spawned == -ENOENT && !program.advice.isEmpty ? "; \(program.advice)" : ""
      return ends("\(program.path): \(String(cString: strerror(-spawned)))\(advice)")
    }
    (process, socket, errors) = (spawned, pair[0], pipes[0])
    isKilled = false
    lines = ChildErrorLines()
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
    if let settings { send(settings) }
    for done in told { done() }
    report()
  }

  private var hasEnded: Bool {
    guard process > 0 else { return false }
    var information = siginfo_t()
    return waitid(P_PID, id_t(clamping: process), &information, WEXITED | WNOWAIT | WNOHANG) == 0
      && information.si_signo == SIGCHLD
  }

  /// Ends a process that has exited or closed its end of the socket.
  private mutating func reap() {
    _ = daemon_send_signal(process, SIGKILL)
    // The process is reaped under the lock, so that its number cannot belong to another process while `stop` sends a
    // signal to it.
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
    // An end that the stop of the daemon has caused is not reported.
    guard let news, !child.isStopping.load(ordering: .acquiring) else { return }
    child.logger.error("\(title) ended; it is started again", metadata: ["reason": .string(news)])
  }

  private func report() { child.changed(supervision.report(process: process > 0 ? process : nil)) }

  // MARK: words

  private mutating func send(_ order: Talk.Order, file: Int32? = nil) {
    guard process > 0 else { return }
    let bytes = Talk.bytes(of: order)
    let sent =
      file.map { daemon_send_with(socket, bytes, bytes.count, $0) } ?? daemon_send(socket, bytes, bytes.count)
    // A process that lets its socket fill up hangs.
    if sent != bytes.count, sent != -Int(EPIPE) { step(.nonsense("it does not take its orders")) }
  }

  private mutating func hear() {
    let bytes = [UInt8](unsafeUninitializedCapacity: 262_144) { bytes, count in
      count = max(0, recv(socket, bytes.baseAddress, bytes.count, Int32(truncatingIfNeeded: MSG_DONTWAIT)))
    }
    guard !bytes.isEmpty else { return reap() }
    if let event = supervision.hear(bytes, at: MonotonicClock.now, child.heard) { step(event) }
  }

  private mutating func hearErrors() {
    guard errors >= 0 else { return }
    var polled = pollfd(fd: errors, events: Int16(truncatingIfNeeded: POLLIN), revents: 0)
    guard poll(&polled, 1, 0) > 0, polled.revents & Int16(truncatingIfNeeded: POLLIN) != 0 else {
      // The process has closed its standard error, which would poll readable from now on.
      if polled.revents & Int16(truncatingIfNeeded: POLLHUP) != 0, socket >= 0 {
        close(errors)
        errors = -1
      }
      return
    }
    let bytes = [UInt8](unsafeUninitializedCapacity: 4096) { bytes, count in
      count = max(0, read(errors, bytes.baseAddress, bytes.count))
    }
    for line in lines.receive(bytes) { child.logger.warning("\(title) says", metadata: ["line": .string(line)]) }
  }
}

/// The lines of a child's standard error, of which the first 50 are logged.
private struct ChildErrorLines {
  private var rest: [UInt8] = []
  private var count = 0
  private(set) var last: String?

  mutating func receive(_ bytes: [UInt8]) -> [String] {
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
