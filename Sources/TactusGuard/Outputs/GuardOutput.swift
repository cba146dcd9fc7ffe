import CTactusGuard
import Glibc
import Tactus

/// An output with its own way into the safe state, such as a radio or a program.
public protocol GuardOutput: AnyObject {
  /// Brings the output into the safe state, or continues to do so. The function is called again, every 20 ms at first, until the safe state is
  /// confirmed. The function must not block.
  ///
  /// Returns `nil` when the safe state is confirmed, otherwise a text that says how far the output is.
  func makeSafe() -> String?
}

/// A program that makes an output safe. It is started, and its end is awaited without blocking.
final class ProgramOutput: GuardOutput {
  /// The longest time that the program may run.
  static let limit = Nanoseconds.seconds(5)

  private let arguments: [String]
  private var process: pid_t = 0
  private var end = TickInstant.zero

  /// Creates an output whose program exists and may be executed; throws otherwise.
  init(_ arguments: [String]) throws(GuardError) {
    guard access(arguments[0], X_OK) == 0 else {
      throw .cannotOpen(["\(arguments[0]): \(String(cString: strerror(errno)))"])
    }
    self.arguments = arguments
  }

  func makeSafe() -> String? {
    if process == 0 {
      let started = withCStrings(arguments) { tactus_guard_spawn_program($0) }
      guard started > 0 else { return String(cString: strerror(-started)) }
      process = started
      end = MonotonicClock.now + Self.limit
    }
    var status: Int32 = 0
    guard waitpid(process, &status, WNOHANG) == process else {
      guard MonotonicClock.now >= end else { return "it has not ended yet" }
      kill(-process, SIGKILL)
      waitpid(process, &status, 0)
      process = 0
      return "it had not ended after \(Self.limit), and was killed"
    }
    process = 0
    return status == 0
      ? nil : status & 0x7F == 0 ? "exit status \(status >> 8 & 0xFF)" : "ended by signal \(status & 0x7F)"
  }
}
