import Glibc
import Tactus

/// What the guard process has to say.
public struct GuardReport: Sendable, Hashable {
  /// What it is about.
  public enum Subject: Sendable, Hashable {
    /// Devices could not be opened at the start; tried again when they are needed.
    case notOpened
    /// Every output is in its safe state.
    case madeSafe(GuardMachine.Cause)
    /// Some write has failed, and is repeated.
    case notSafeYet(GuardMachine.Cause)
    /// The program is under control again.
    case back
    /// The program is gone, and the safe state could not be written for a minute.
    case gaveUp
    /// The hardware watchdog could not be opened; tried again every 0.2 s.
    case watchdogNotOpened
    /// The hardware watchdog is open now.
    case watchdogOpened
    /// The hardware watchdog was not fed.
    case watchdogNotFed
    /// The guard ends without a confirmed safe state, or could not stop the hardware watchdog: it goes on counting, and resets the board.
    case watchdogLeft
  }

  /// What it is about.
  public var subject: Subject
  /// What failed.
  public var failures: [String]
  /// How often it has been tried, from 1, or `nil` if nothing was.
  public var attempt: Int?
  /// When this attempt began, or `nil` if there was none.
  public var began: TickInstant?

  /// A sentence for a log.
  ///
  /// - Parameters:
  ///   - program: what is watched.
  ///   - output: what is made safe.
  public func message(program: String = "the program", output: String = "output") -> String {
    switch subject {
    case .notOpened: "a device could not be opened; tried again when needed"
    case .madeSafe(let cause): "\(Self.words(cause, program)): every \(output) was put into its safe state"
    case .notSafeYet(let cause): "\(Self.words(cause, program)): the safe state is not confirmed yet"
    case .back: "\(program)'s heartbeat is back"
    case .gaveUp: "gave up: the safe state was never confirmed"
    case .watchdogNotOpened: "the hardware watchdog cannot be opened; tried again"
    case .watchdogOpened: "the hardware watchdog is fed"
    case .watchdogNotFed: "a write to the hardware watchdog failed: the board may reset"
    case .watchdogLeft: "the hardware watchdog is not fed any more: it resets the board"
    }
  }

  private static func words(_ cause: GuardMachine.Cause, _ program: String) -> String {
    switch cause {
    case .death: "\(program) is gone"
    case .lapse: "\(program)'s heartbeat has lapsed"
    case .hang(let loop): "\(program)'s watched loop \(loop) does not advance"
    case .fault(let fault): "\(program)'s heartbeat is faulty, \(fault.words)"
    case .asked: "\(program) has asked for it"
    }
  }

  /// Prints a line on standard error, if that takes it at once: a full pipe must not come between the guard and the outputs.
  func print(program: pid_t) {
    let failures = failures.map { "; \($0)" }.joined()
    var waiting = pollfd(fd: 2, events: Int16(truncatingIfNeeded: POLLOUT), revents: 0)
    // A pipe that polls writable takes a page without blocking (pipe(7)).
    guard poll(&waiting, 1, 0) == 1, waiting.revents == Int16(truncatingIfNeeded: POLLOUT) else { return }
    let bytes = Array("guard of process \(program): \(message())\(failures)".utf8.prefix(4095)) + [0x0A]
    _ = write(2, bytes, bytes.count)
  }
}
