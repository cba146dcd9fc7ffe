import CTactusGuard
@_spi(FromOutside) import Conversions
import Glibc
import Tactus

/// A program's link to its guard process, which starts, replaces and dismisses the guard. A `HeartbeatSender` sends the heartbeats.
///
/// The socket keeps its descriptor number when the guard is replaced, so the heartbeat sender is not affected. The link must be used
/// by one thread at a time. If the link is released without a dismissal, the socket closes and the guard writes.
public final class GuardLink {
  /// The command that starts the guard, always with this program's own executable.
  public struct Command: Sendable {
    /// The first words of the command line: the program's name and the option that makes the program a guard.
    public var words: [String]
    /// Further options of the command line, in the form `--NAME VALUE`.
    public var options: [String: String]
    /// The guard's environment, or `nil` for the environment of this process.
    public var environment: [String: String]?
    /// Descriptors of this process that the guard inherits besides its socket, its page and its lines. The guard gets `--NAME N`
    /// for each, with the number that the descriptor has in the guard.
    public var descriptors: [String: Int32] = [:]
    /// Starts and kills the guard in place of this process, or `nil` if this process does so itself.
    package var starter: Starter?

    /// Starts and kills processes on behalf of a program that may not do so itself.
    package struct Starter: Sendable {
      /// Starts a process with a command line and with the descriptors that the guard has from `TACTUS_GUARD_DESCRIPTOR` on.
      /// Returns the process id of a child of this process, or −errno.
      let start: @Sendable ([String], [Int32]) -> pid_t
      /// Announces a command line, with the number of descriptors, that may have to be started when no new one is accepted any more.
      let declare: @Sendable ([String], Int) -> Void
      let kill: @Sendable (pid_t) -> Void

      package init(
        start: @escaping @Sendable ([String], [Int32]) -> pid_t, declare: @escaping @Sendable ([String], Int) -> Void,
        kill: @escaping @Sendable (pid_t) -> Void
      ) {
        (self.start, self.declare, self.kill) = (start, declare, kill)
      }
    }

    /// Creates the command from its first words.
    ///
    /// - Parameter words: the first words of the command line. With the default, the new process
    ///   becomes the guard before the program's main begins.
    public init(
      _ words: [String] = [CommandLine.arguments.first ?? "guarded", "--tactus-guard"],
      options: [String: String] = [:], environment: [String: String]? = nil
    ) {
      self.words = words
      self.options = options
      self.environment = environment
    }
  }

  /// The safe-state writes of the guard, in the order in which they are made.
  public let writes: [SafeStateWrite]
  /// The timeout: the guard writes when no good heartbeat has come for this time, or when a watched loop has made no progress for it.
  public let timeout: Nanoseconds
  /// The time from one heartbeat to the next.
  public let period: Nanoseconds
  /// The hardware watchdog that the guard feeds, or `nil` if it feeds none.
  public let watchdog: HardwareWatchdog?
  private let command: Command
  private let page: GuardPage
  /// The descriptor of the socket to which heartbeats are sent.
  public private(set) var socket: Int32 = -1
  /// The guard's process id.
  public private(set) var process: pid_t = 0
  /// The instant at which the guard was ready.
  public private(set) var started = TickInstant.zero
  /// The timeout of the hardware watchdog in effect in its driver, or `nil` if there is no watchdog or the guard has not opened it yet.
  public private(set) var watchdogTimeout: Nanoseconds?
  /// The devices that the guard could not open yet, with the reasons.
  public private(set) var unopened: [String] = []
  private var isReaped = false

  /// Starts the guard and waits at most five seconds until it has opened its devices.
  ///
  /// - Parameters:
  ///   - timeout: the time without a good heartbeat, or without progress of a watched loop, after which the guard writes; 10 ms…1 day.
  ///   - period: the time from one heartbeat to the next, in whole milliseconds, less than `timeout`.
  ///   - first: the time in which the first heartbeat is due, or `nil` for the timeout. It may be longer, for a program that needs time before
  ///     it calls `begin()` and starts what it drives; a guard that replaces another one does not wait so long.
  ///   - watchdog: the hardware watchdog that the guard opens, feeds and, at its orderly end, stops. Its timeout should be several
  ///     seconds, so that a guard can be replaced meanwhile.
  public init(
    writes: [SafeStateWrite], timeout: Nanoseconds, period: Nanoseconds, first: Nanoseconds? = nil,
    watchdog: HardwareWatchdog? = nil, command: Command = Command()
  ) throws(GuardError) {
    self.writes = writes
    self.timeout = timeout
    self.period = period
    self.watchdog = watchdog
    self.command = command
    try Self.check(writes, timeout: timeout, period: period)
    page = try GuardPage()
    // A guard that replaces the first one is started with other arguments.
    if first != nil, let starter = command.starter {
      let (words, inherited) = commandLine(first: nil)
      starter.declare(words, inherited.count + 1)
    }
    try start(first: first)
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

  /// The number and the instants of safe-state writes that the guard, or a previous guard, has begun. Used for
  /// `Runtime(externalStops:)`, so that stopped outputs stay stopped.
  public var stops: ExternalStops { page.stops }

  deinit {
    close(page.descriptor)
    if socket >= 0 { close(socket) }
  }

  /// Starts another guard in place of one that has died or hangs. The old one is killed and reaped first, so that two guards never
  /// write at the same time. Blocks for at most seven seconds.
  ///
  /// - Throws: `.notEnded` if the kernel has not ended the old guard within two seconds, in which case it stays the guard;
  ///   otherwise the errors of `init`.
  public func replace() throws(GuardError) {
    kill()
    guard hasEnded(by: MonotonicClock.now + .seconds(2)) else { throw .notEnded }
    try start()
  }

  /// Waits for the guard's end until `instant` and returns whether it has ended. The process is polled, because a wait in the
  /// kernel has no time limit.
  private func hasEnded(by instant: TickInstant) -> Bool {
    while !hasEnded() {
      guard MonotonicClock.now < instant else { return false }
      poll(nil, 0, 1)
    }
    return true
  }

  /// Kills a guard that hangs. `hasEnded()` returns whether it has ended.
  public func kill() {
    // Only a process that has not been reaped is certain to be the guard.
    guard !hasEnded() else { return }
    if let starter = command.starter { starter.kill(process) } else { Glibc.kill(process, SIGKILL) }
  }

  /// Returns whether the guard has ended, and reaps its exit status in that case.
  public func hasEnded() -> Bool {
    if !isReaped { isReaped = waitpid(process, nil, WNOHANG) != 0 }
    return isReaped
  }

  /// Tells the guard that the program now begins to drive its outputs. If `first` was longer than the timeout, the first heartbeat is due within the
  /// timeout.
  public func begin() { send(TACTUS_GUARD_BEGIN) }

  /// Makes the guard write the safe state immediately, once, regardless of the heartbeats. Does not wait for the write.
  public func ask() { send(TACTUS_GUARD_ASK) }

  /// Ends the guard in an orderly way, and waits at most two seconds for its end. The function must be called only when every
  /// output is confirmed to be in its safe state.
  public func dismiss() {
    send(TACTUS_GUARD_DISMISS)
    var message = tactus_guard_message()
    var waiting = pollfd(fd: socket, events: Int16(truncatingIfNeeded: POLLIN), revents: 0)
    let end = MonotonicClock.now + .seconds(2)
    while MonotonicClock.now < end, poll(&waiting, 1, 100) >= 0 {
      // Answers to the last heartbeats are received first.
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

  private func start(first: Nanoseconds? = nil) throws(GuardError) {
    var pair: [Int32] = [-1, -1]
    let made = tactus_guard_socket_pair(&pair)
    guard made >= 0 else { throw .notStarted(errno: -made) }
    let spawned = spawn(with: pair[1], first: first)
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
    // The socket is replaced only now: until here the sender of heartbeats would have received every message.
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

  /// Returns the guard's command line and the descriptors that it inherits besides its socket.
  private func commandLine(first: Nanoseconds?) -> (words: [String], inherited: [Int32]) {
    // The descriptors get new numbers in the guard, which its arguments state.
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
      ] + (first.map { ["--first-ms", "\(max(1, $0.count / 1_000_000))"] } ?? [])
      + (watchdog.map { ["--watchdog", $0.path, "--watchdog-s", "\($0.timeoutSeconds)"] } ?? [])
    let shared = (["stops"] + others.map(\.key)).flatMap { name in
      defer { next += 1 }
      return ["--\(name)", "\(next)"]
    }
    let options = command.options.sorted { $0.key < $1.key }.flatMap { ["--\($0.key)", $0.value] }
    return (command.words + numbers + shared + options + theirs.map(\.description), inherited)
  }

  /// Starts the guard process. Returns the process id, or −errno if it fails.
  private func spawn(with descriptor: Int32, first: Nanoseconds?) -> pid_t {
    let (words, inherited) = commandLine(first: first)
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

/// Passes the texts to `body` as a NULL-terminated list of C strings, which is valid while `body` runs.
func withCStrings<Result>(
  _ texts: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  var pointers = texts.map { strdup($0) } + [nil]
  defer { for pointer in pointers { free(pointer) } }
  return pointers.withUnsafeMutableBufferPointer { body($0.baseAddress!) }
}
