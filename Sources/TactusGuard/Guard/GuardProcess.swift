import CTactus
import CTactusGuard
@_spi(FromOutside) import Conversions
import Glibc
import Tactus

/// The guard process. It holds its own descriptors of every output, judges and answers the heartbeats that come through its socket,
/// and makes the safe-state writes when `GuardMachine` requires them.
///
/// The process ends only by a dismissal, after the program's death and a confirmed safe state, or by SIGKILL. `Guard` starts it
/// without further steps; a program with its own outputs, log or confinement runs it from its main (see this folder's README.md).
public struct GuardProcess {
  private let arguments: GuardArguments
  private let writer: SafeStateWriter
  private let program: pid_t
  private let prepare: ([SafeStateWrite]) -> Void
  private let report: (GuardReport) -> Void
  private var machine: GuardMachine
  private var written: UInt64 = 0
  private var watchdog: WatchdogFeeder?
  /// The opened process of another program, or −1.
  private var process: Int32 = -1
  /// Whether the other end of the socket is closed.
  private var isClosed = false
  /// The page on which the guard counts its writes, or `nil` if the program has no such page.
  private let stops: ExternalStops?
  /// The instant at which the present safe-state write began.
  private var began = TickInstant.zero

  /// Creates the guard process from its command line.
  ///
  /// - Parameters:
  ///   - arguments: the command line of the guard.
  ///   - outputs: functions that create the outputs of custom writes, by the names of the writes.
  ///   - prepare: called when the devices are open and before the program is notified; the place to give up privileges.
  ///   - report: called with each report; it must not block. With `nil` each report is printed on standard error.
  public init(
    _ arguments: GuardArguments, outputs: [String: SafeStateWriter.MakeOutput] = [:],
    prepare: @escaping ([SafeStateWrite]) -> Void = { _ in }, report: ((GuardReport) -> Void)? = nil
  ) {
    let program = getppid()
    self.arguments = arguments
    self.program = program
    self.prepare = prepare
    self.report = report ?? { $0.print(program: program) }
    writer = SafeStateWriter(arguments.writes, custom: outputs)
    stops = arguments.stops.flatMap { GuardPage.map($0) }
    machine = Self.machine(arguments)
    if arguments.other != nil { process = tactus_guard_open_maker(arguments.descriptor) }
    watchdog = arguments.watchdog.map { WatchdogFeeder(LinuxWatchdog($0), at: MonotonicClock.now) }
  }

  /// Runs the guard until it is dismissed, or until the safe state after the program's death is confirmed or cannot be reached.
  ///
  /// - Returns: the exit status of the process.
  public mutating func run() -> Int32 {
    tactus_guard_ignore_signals()
    // The guard asks for a priority above every lane, as best effort like a lane's own real-time settings.
    _ = tactus_thread_set_fifo(99)
    let failures = writer.open()
    // The watchdog is fed as soon as possible, while it may still be opened.
    feedWatchdog()
    if !failures.isEmpty { report(GuardReport(subject: .notOpened, failures: failures)) }
    prepare(arguments.writes)
    _ = tactus_memory_lock()
    let text = (failures + [watchdog?.failure].compactMap(\.self)).joined(separator: "\n")
    let watchdogSeconds = UInt64(clamping: (watchdog?.timeout ?? .zero).count / 1_000_000_000)
    _ = tactus_guard_send_ready(arguments.descriptor, watchdogSeconds, text, text.utf8.count)
    machine = Self.machine(arguments)

    var action = machine.step(.nothing, at: MonotonicClock.now)
    while true {
      feedWatchdog()
      switch action {
      case .wait(let instant): action = listen(until: instant)
      case .write:
        // The stop is noted before the write, since a loop that runs after the write must know of it.
        began = MonotonicClock.now
        if Mechanism.guardNote.acts { stops?.note(at: began) }
        let failures = writer.write()
        reportWrite(failures)
        endOther()
        action = machine.step(failures.isEmpty ? .confirmed : .failed, at: MonotonicClock.now)
      case .finish(let status):
        if status != 0 { report(GuardReport(subject: .gaveUp, failures: [])) }
        for said in watchdog?.end(isSafe: status == 0, at: MonotonicClock.now) ?? [] { report(said) }
        return Int32(clamping: status)
      }
    }
  }

  /// Returns the machine at its start.
  private static func machine(_ arguments: GuardArguments) -> GuardMachine {
    let now = MonotonicClock.now
    guard arguments.other?.expectsHeartbeats ?? true else { return GuardMachine(window: arguments.window, at: now) }
    return GuardMachine(window: arguments.window, at: now + (arguments.first - arguments.window.longest))
  }

  /// Kills another program that is not under control, after its outputs were written for the first time.
  private func endOther() {
    guard arguments.other?.isKilled == true, process >= 0 else { return }
    switch machine.state {
    case .writing(.lapse, attempt: 1), .writing(.hang, attempt: 1), .writing(.fault, attempt: 1):
      if tactus_guard_kill_process(process) == 0 { report(GuardReport(subject: .killed, failures: [])) }
    default: break
    }
  }

  private mutating func feedWatchdog() {
    for said in watchdog?.check(machine.state, at: MonotonicClock.now) ?? [] { report(said) }
  }

  /// Waits for a message until `instant`, then steps the machine with the message or with `nothing`.
  private mutating func listen(until instant: TickInstant) -> GuardMachine.Action {
    var waiting = (
      pollfd(fd: arguments.descriptor, events: Int16(truncatingIfNeeded: POLLIN), revents: 0),
      pollfd(fd: process, events: Int16(truncatingIfNeeded: POLLIN), revents: 0)
    )
    // A closed socket and the descriptor of an ended process poll readable for ever, so they are left out.
    if case .retrying(.death, _, _) = machine.state { (waiting.0.fd, waiting.1.fd) = (-1, -1) }
    if isClosed { waiting.0.fd = -1 }
    let end = watchdog?.nextDeadline.map { min($0, instant) } ?? instant
    let rest = max(0, (end - MonotonicClock.now).count)
    let count = withUnsafeMutableBytes(of: &waiting) { waiting in
      poll(
        waiting.assumingMemoryBound(to: pollfd.self).baseAddress, 2,
        Int32(clamping: rest / 1_000_000 + (rest % 1_000_000 > 0 ? 1 : 0)))
    }
    guard count > 0 else { return machine.step(.nothing, at: MonotonicClock.now) }
    if waiting.1.revents != 0 { return machine.step(.closed, at: MonotonicClock.now) }
    var message = tactus_guard_message()
    let result = tactus_guard_receive(arguments.descriptor, &message)
    let now = MonotonicClock.now
    switch result {
    case 1: break
    case -EAGAIN: return machine.step(.nothing, at: now)
    case -EPROTO: return machine.step(.malformed, at: now)
    default:
      guard arguments.other != nil, process >= 0 else { return machine.step(.closed, at: now) }
      // The process lives, although its socket is closed.
      isClosed = true
      return machine.step(.nothing, at: now)
    }
    switch message.kind {
    case UInt64(TACTUS_GUARD_HEARTBEAT.rawValue): return receive(message, at: now)
    case UInt64(TACTUS_GUARD_ASK.rawValue): return machine.step(.asked, at: now)
    case UInt64(TACTUS_GUARD_BEGIN.rawValue): return machine.step(.begun, at: now)
    case UInt64(TACTUS_GUARD_DISMISS.rawValue): return machine.step(.dismissed, at: now)
    default: return machine.step(.malformed, at: now)
    }
  }

  private mutating func receive(_ message: tactus_guard_message, at now: TickInstant) -> GuardMachine.Action {
    let before = machine.state
    let action = machine.step(
      .heartbeat(
        Heartbeat(
          number: message.number, due: TickInstant(nanoseconds: message.due),
          sent: TickInstant(nanoseconds: message.sent), watched: message.watched, advanced: message.advanced)), at: now)
    // The answer is sent before a safe-state write, which may take long.
    var answer = tactus_guard_message()
    answer.kind = UInt64(TACTUS_GUARD_ANSWER.rawValue)
    answer.number = message.number
    answer.written = written + (action == .write ? 1 : 0)
    _ = tactus_guard_send(arguments.descriptor, &answer)
    if before != .watching, machine.state == .watching {
      writer.release()
      report(GuardReport(subject: .back, failures: []))
    }
    return action
  }

  private mutating func reportWrite(_ failures: [String]) {
    guard case .writing(let cause, let attempt) = machine.state else { return }
    if attempt == 1 { written += 1 }
    if failures.isEmpty {
      report(
        GuardReport(
          subject: .madeSafe(cause), failures: [], attempt: attempt, began: began, unconfirmed: writer.unconfirmed))
    } else if attempt == 1 || attempt.isMultiple(of: 50) {
      report(GuardReport(subject: .notSafeYet(cause), failures: failures, attempt: attempt, began: began))
    }
  }
}

/// Runs the guard. The function is called before main in a process that was started as a guard (Sources/CTactusGuard/takeover.c).
/// Returns the exit status.
@_cdecl("tactus_guard_main")
func runAsGuard(_ count: Int32, _ arguments: UnsafePointer<UnsafePointer<CChar>?>) -> Int32 {
  let texts = (2..<max(2, Int(count))).compactMap { arguments[$0].map { String(cString: $0) } }
  guard let arguments = GuardArguments(texts) else { return 64 }
  var process = GuardProcess(arguments)
  return process.run()
}
