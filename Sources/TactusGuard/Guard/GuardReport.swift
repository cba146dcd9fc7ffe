import Glibc
import Tactus

/// A report of the guard process, for a log.
public struct GuardReport: Sendable, Hashable {
  /// The event that is reported.
  public enum Subject: Sendable, Hashable {
    /// Devices could not be opened at the start. Opening is tried again when the devices are needed.
    case notOpened
    /// Every output is in its safe state, except that nothing confirms what was sent to `unconfirmed`.
    case madeSafe(GuardMachine.Cause)
    /// A write has failed and is repeated.
    case notSafeYet(GuardMachine.Cause)
    /// The program was killed because it was not under control.
    case killed
    /// The program is under control again.
    case back
    /// The program has ended, and the safe state could not be written for a minute.
    case gaveUp
    /// The hardware watchdog could not be opened. Opening is tried again every 0.2 s.
    case watchdogNotOpened
    /// The hardware watchdog is open now.
    case watchdogOpened
    /// Feeding the hardware watchdog failed.
    case watchdogNotFed
    /// The guard ends without a confirmed safe state, or could not stop the hardware watchdog. The watchdog continues to count and resets the board.
    case watchdogLeft
  }

  /// The event that is reported.
  public var subject: Subject
  /// The failed writes or devices, with the reasons.
  public var failures: [String]
  /// The number of the attempt, from 1, or `nil` if the event is not about an attempt.
  public var attempt: Int?
  /// The instant at which this attempt began, or `nil` if the event is not about an attempt.
  public var began: TickInstant?
  /// The devices that cannot confirm what they were sent, such as `/dev/ttyAMA0`; see `SafeStateWriter.unconfirmed`.
  public var unconfirmed: [String] = []

  /// Returns a sentence for a log.
  ///
  /// - Parameters:
  ///   - program: the name of the watched program.
  ///   - output: the name of the outputs.
  public func message(program: String = "the program", output: String = "output") -> String {
    switch subject {
    case .notOpened: "a device could not be opened; tried again when needed"
    case .madeSafe(let cause): "\(Self.sentence(of: cause, program)): \(Self.done(output, unconfirmed: unconfirmed))"
    case .notSafeYet(let cause): "\(Self.sentence(of: cause, program)): the safe state is not confirmed yet"
    case .killed: "\(program) was not under control and was killed"
    case .back: "\(program)'s heartbeat is back"
    case .gaveUp: "gave up: the safe state was never confirmed"
    case .watchdogNotOpened: "the hardware watchdog cannot be opened; tried again"
    case .watchdogOpened: "the hardware watchdog is fed"
    case .watchdogNotFed: "a write to the hardware watchdog failed: the board may reset"
    case .watchdogLeft: "the hardware watchdog is not fed any more: it resets the board"
    }
  }

  /// Returns what was done with every output: that it is in its safe state, or that it was sent and where nothing confirms it.
  package static func done(_ output: String, unconfirmed: [String]) -> String {
    unconfirmed.isEmpty
      ? "every \(output) was put into its safe state"
      : "every \(output) was sent its safe state; nothing confirms it on \(unconfirmed.joined(separator: ", "))"
  }

  private static func sentence(of cause: GuardMachine.Cause, _ program: String) -> String {
    switch cause {
    case .death: "\(program) is gone"
    case .lapse: "\(program)'s heartbeat has lapsed"
    case .hang(let loop): "\(program)'s watched loop \(loop) does not advance"
    case .fault(let fault): "\(program)'s heartbeat is faulty, \(fault.words)"
    case .asked: "\(program) has asked for it"
    }
  }

  /// Prints the report on standard error if that is possible without blocking, since a full pipe must not keep the guard from the outputs.
  func print(program: pid_t) {
    let failures = failures.map { "; \($0)" }.joined()
    var waiting = pollfd(fd: 2, events: Int16(truncatingIfNeeded: POLLOUT), revents: 0)
    // A pipe that polls writable takes a page without blocking (pipe(7)).
    guard poll(&waiting, 1, 0) == 1, waiting.revents == Int16(truncatingIfNeeded: POLLOUT) else { return }
    let bytes = Array("guard of process \(program): \(message())\(failures)".utf8.prefix(4095)) + [0x0A]
    _ = write(2, bytes, bytes.count)
  }
}
