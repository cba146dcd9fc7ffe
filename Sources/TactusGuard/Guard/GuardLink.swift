import CTactusGuard
import Glibc
import Tactus

/// A program's end of a guard process: starts it, replaces it, dismisses it. Heartbeats are a `HeartbeatSender`'s.
///
/// The socket keeps its descriptor number when the guard is started anew, so the sender of heartbeats needs to know nothing of it. For
/// one thread at a time. When it is released without a dismissal the socket closes, and the guard writes.
public final class GuardLink {
  /// What is started, always this program's own executable.
  public struct Command: Sendable {
    /// The program's name and what makes it a guard.
    public var words: [String]
    /// Further `--NAME VALUE`.
    public var options: [String: String]
    /// The guard's environment; `nil` for that of this process.
    public var environment: [String: String]?
    /// Descriptors of this process that the guard inherits besides its socket, its page and its lines: it gets `--NAME N`, with its own number
    /// of each.
    public var descriptors: [String: Int32] = [:]
    /// Starts and kills it in the place of this process, or `nil` if this process does.
    package var starter: Starter?

    /// Starts and kills processes for a program that cannot.
    package struct Starter: Sendable {
      /// Gets the command line and the descriptors that the guard has from `TACTUS_GUARD_DESCRIPTOR` on. Returns the process id of a child of
      /// this process, or −errno.
      let start: @Sendable ([String], [Int32]) -> pid_t
      let kill: @Sendable (pid_t) -> Void

      package init(
        start: @escaping @Sendable ([String], [Int32]) -> pid_t, kill: @escaping @Sendable (pid_t) -> Void
      ) {
        (self.start, self.kill) = (start, kill)
      }
    }

    /// - Parameter words: the default is taken over before the program's main begins.
    public init(
      _ words: [String] = [CommandLine.arguments.first ?? "guarded", "--tactus-guard"],
      options: [String: String] = [:], environment: [String: String]? = nil
    ) {
      self.words = words
      self.options = options
      self.environment = environment
    }
  }

  /// What the guard writes, in this order.
  public let writes: [SafeStateWrite]
  /// Without a good heartbeat, and without an advance of each watched loop, after which the guard writes.
  public let timeout: Nanoseconds
  /// From one heartbeat to the next.
  public let period: Nanoseconds
  /// The hardware watchdog that the guard feeds; `nil` for none.
  public let watchdog: HardwareWatchdog?
  private let command: Command
  private let page: GuardPage
  /// The socket to send heartbeats to.
  public private(set) var socket: Int32 = -1
  /// The guard's process id.
  public private(set) var process: pid_t = 0
  /// When the guard was ready.
  public private(set) var started = TickInstant.zero
  /// The time-out of the hardware watchdog, as its driver has it, or `nil` if there is none, or the guard has not opened it yet.
  public private(set) var watchdogTimeout: Nanoseconds?
  /// The devices that it could not open yet, and why.
  public private(set) var unopened: [String] = []
  private var isReaped = false

  /// Starts the guard and waits until it has opened its devices, five seconds at most.
  ///
  /// - Parameters:
  ///   - timeout: without a good heartbeat, and without an advance of each watched loop, after which the guard writes; 10 ms…1 day.
  ///   - period: from one heartbeat to the next, in whole milliseconds, less than `timeout`.
  ///   - watchdog: what the guard opens, feeds and, at its orderly end, stops. Several seconds, so that a guard can be replaced meanwhile.
  public init(
    writes: [SafeStateWrite], timeout: Nanoseconds, period: Nanoseconds, watchdog: HardwareWatchdog? = nil,
    command: Command = Command()
  ) throws(GuardError) {
    self.writes = writes
    self.timeout = timeout
    self.period = period
    self.watchdog = watchdog
    self.command = command
    try Self.check(writes, timeout: timeout, period: period)
    page = try GuardPage()
    try start()
  }

  private static func check(_ writes: [SafeStateWrite], timeout: Nanoseconds, period: Nanoseconds) throws(GuardError) {
    guard !writes.isEmpty else { throw .invalid("there is nothing to write") }
    for write in writes { if let flaw = write.flaw { throw .invalid("\(write): \(flaw)") } }
    guard .milliseconds(10) <= timeout, timeout <= .seconds(86_400) else {
      throw .invalid("a time-out is 10 ms…1 day, got \(timeout)")
    }
    guard .milliseconds(1) <= period, period < timeout else {
      throw .invalid("heartbeats are 1 ms or more apart, and less than the time-out, got \(period)")
    }
  }

  /// How often the guard, or one before it, has begun to write the safe state, and when: for `Runtime(externalStops:)`, so that what was
  /// stopped stays stopped.
  public var stops: ExternalStops { page.stops }

  deinit {
    close(page.descriptor)
    if socket >= 0 { close(socket) }
  }

  /// Starts another guard in the place of one that has died or hangs: that one is killed and taken off the kernel first, so that two never
  /// write at once. Seven seconds at most.
  ///
  /// - Throws: `.notEnded` if the kernel has not ended the old one within two seconds; it is still the guard then. Otherwise as `init` does.
  public func replace() throws(GuardError) {
    kill()
    guard hasEnded(by: MonotonicClock.now + .seconds(2)) else { throw .notEnded }
    try start()
  }

  /// Waits for the guard's end. By looking again: a wait in the kernel has no limit.
  private func hasEnded(by instant: TickInstant) -> Bool {
    while !hasEnded() {
      guard MonotonicClock.now < instant else { return false }
      poll(nil, 0, 1)
    }
    return true
  }

  /// Kills a guard that hangs; `hasEnded()` says when that is done.
  public func kill() {
    // Only a process that has not been waited for is certain to be ours.
    guard !hasEnded() else { return }
    if let starter = command.starter { starter.kill(process) } else { Glibc.kill(process, SIGKILL) }
  }

  /// Whether the guard has ended; takes its exit status off the kernel then.
  public func hasEnded() -> Bool {
    if !isReaped { isReaped = waitpid(process, nil, WNOHANG) != 0 }
    return isReaped
  }

  /// Has the guard write the safe state now, once, whatever the heartbeats say. Does not wait for it.
  public func ask() { send(TACTUS_GUARD_ASK) }

  /// The guard's orderly end: to be called only when every output is confirmed to be in its safe state. Waits at most two seconds for it.
  public func dismiss() {
    send(TACTUS_GUARD_DISMISS)
    var message = tactus_guard_message()
    var waiting = pollfd(fd: socket, events: Int16(truncatingIfNeeded: POLLIN), revents: 0)
    let end = MonotonicClock.now + .seconds(2)
    while MonotonicClock.now < end, poll(&waiting, 1, 100) >= 0 {
      // Answers to the last heartbeats come first.
      while tactus_guard_receive(socket, &message) == 1 {}
      if hasEnded() { return }
      if waiting.revents & Int16(truncatingIfNeeded: POLLHUP) != 0 {
        _ = hasEnded(by: end)
        return
      }
    }
  }

  private func send(_ kind: tactus_guard_kind) {
    var message = tactus_guard_message()
    message.kind = UInt64(kind.rawValue)
    _ = tactus_guard_send(socket, &message)
  }

  private func start() throws(GuardError) {
    var pair: [Int32] = [-1, -1]
    let made = tactus_guard_socket_pair(&pair)
    guard made >= 0 else { throw .notStarted(errno: -made) }
    let spawned = spawn(with: pair[1])
    close(pair[1])
    guard spawned > 0 else {
      close(pair[0])
      throw .notStarted(errno: -spawned)
    }
    process = spawned
    isReaped = false
    var text = [CChar](repeating: 0, count: 8192)
    var watchdogSeconds: UInt64 = 0
    guard tactus_guard_await_ready(pair[0], 5000, &watchdogSeconds, &text, text.count) == 1 else {
      close(pair[0])
      kill()
      _ = hasEnded(by: MonotonicClock.now + .seconds(2))
      throw .notReady
    }
    // Not before: the sender of heartbeats takes every message.
    if socket >= 0 {
      tactus_guard_take_place(socket, pair[0])
    } else {
      socket = pair[0]
    }
    let said = text.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    unopened = said.split(separator: "\n").map(String.init)
    watchdogTimeout = watchdogSeconds == 0 ? nil : .seconds(Double(watchdogSeconds))
    started = MonotonicClock.now
  }

  /// Returns the process id, or −errno.
  private func spawn(with descriptor: Int32) -> pid_t {
    // The guard's own numbers for the lines that it inherits.
    let others = command.descriptors.sorted { $0.key < $1.key }
    let inherited = writes.compactMap(\.heldDescriptor) + [page.descriptor] + others.map(\.value)
    var next = Int32(truncatingIfNeeded: TACTUS_GUARD_DESCRIPTOR) + 1
    let theirs = writes.map { write in
      guard write.heldDescriptor != nil else { return write }
      defer { next += 1 }
      return write.held(by: next)
    }
    let numbers =
      [
        "--descriptor", "\(TACTUS_GUARD_DESCRIPTOR)", "--timeout-ms", "\(timeout.count / 1_000_000)", "--heartbeat-ms",
        "\(period.count / 1_000_000)",
      ] + (watchdog.map { ["--watchdog", $0.path, "--watchdog-s", "\($0.timeoutSeconds)"] } ?? [])
    let shared = (["stops"] + others.map(\.key)).flatMap { name in
      defer { next += 1 }
      return ["--\(name)", "\(next)"]
    }
    let options = command.options.sorted { $0.key < $1.key }.flatMap { ["--\($0.key)", $0.value] }
    let words = command.words + numbers + shared + options + theirs.map(\.description)
    if let starter = command.starter { return starter.start(words, [descriptor] + inherited) }
    return withCStrings(words) { arguments in
      guard let environment = command.environment else {
        return tactus_guard_spawn_self(arguments, nil, descriptor, inherited, Int32(clamping: inherited.count))
      }
      return withCStrings(environment.map { "\($0)=\($1)" }) { environment in
        tactus_guard_spawn_self(arguments, environment, descriptor, inherited, Int32(clamping: inherited.count))
      }
    }
  }
}

/// The texts as C has lists of them, with NULL at the end, while `body` runs.
func withCStrings<Result>(
  _ texts: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  var pointers = texts.map { strdup($0) } + [nil]
  defer { for pointer in pointers { free(pointer) } }
  return pointers.withUnsafeMutableBufferPointer { body($0.baseAddress!) }
}
