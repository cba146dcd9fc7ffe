import ArgumentParser
@_spi(FromOutside) import Conversions
import Glibc
import Logging
import Tactus
import TactusGuard

/// A program in any language with a guard beside it. This process starts the guard and then becomes the program, so that the program keeps
/// the process id, the terminal and the signals that were meant for it, and no process stands between it and whoever started it.
///
/// The program finds in its environment `TACTUS_GUARD_FD`, the descriptor of the socket for its heartbeats, and
/// `TACTUS_GUARD_PERIOD_MS`, the time from one heartbeat to the next. A heartbeat is a `tactus_guard_message` (CTactusGuard.h) of the
/// kind 2.
struct GuardedProgram {
  /// The guard's action when heartbeats fail to arrive.
  enum Hang: String, CaseIterable, ExpressibleByArgument {
    /// The guard makes the outputs safe, kills the program, and makes the outputs safe once more.
    case kill
    /// The guard makes the outputs safe, and again after each further timeout until heartbeats arrive.
    case keep
  }

  let outputs: [SafeStateWrite]
  /// The time without a heartbeat after which the program counts as hung, or `nil` if it sends none.
  let timeout: Nanoseconds?
  /// The time limit for the first heartbeat.
  let first: Nanoseconds
  let hang: Hang
  /// The program and its arguments; not empty.
  let words: [String]
  /// The file for the plan of a stop hook, or `nil` if none is left.
  let plan: SafeStatePlanFile?
  let logFormat: LogFormat

  private var name: String { words[0].split(separator: "/").last.map(String.init) ?? words[0] }

  /// Starts the guard and becomes the program. Returns only if that fails, after the guard has been dismissed.
  ///
  /// - Throws: `ExitCode` 78 if an output cannot be opened, 127 if there is no such program, 126 if it cannot be started.
  func run() throws {
    let note = try leavePlan()
    let link: GuardLink
    do {
      link = try GuardLink(
        writes: outputs, timeout: timeout ?? .seconds(86_400), period: period, first: timeout == nil ? nil : first,
        command: command(note: note))
    } catch {
      complain("\(DaemonProgram.current.name) guard: \(error)")
      throw ExitCode.failure
    }
    guard link.unopened.isEmpty else {
      link.dismiss()
      for failure in link.unopened { complain("\(DaemonProgram.current.name) guard: \(failure)") }
      complain(
        "\(DaemonProgram.current.name) guard: \(name) was not started, because its outputs could not be made safe")
      throw ExitCode.badConfig
    }
    let failure = become(with: link.socket)
    // No output has been changed yet.
    link.dismiss()
    complain("\(DaemonProgram.current.name) guard: \(words[0]): \(String(cString: strerror(failure)))")
    throw ExitCode(failure == ENOENT ? 127 : 126)
  }

  private var period: Nanoseconds { .milliseconds(max(1, (timeout ?? .seconds(8)).count / 8_000_000)) }

  private func command(note: Int32?) -> GuardLink.Command {
    var options = ["log-format": logFormat.name, "name": name]
    options["other-program"] = timeout == nil ? "exit-only" : hang.rawValue
    var command = GuardLink.Command([DaemonProgram.current.name, "guard"], options: options)
    if let note { command.descriptors["note"] = note }
    return command
  }

  /// Leaves the plan for `tactus guard --once` and returns the descriptor of the guard's note beside it.
  private func leavePlan() throws -> Int32? {
    guard let plan else { return nil }
    // A plan is read by root, which must not run what others have written into it.
    let writes = outputs.filter { if case .program = $0 { false } else { true } }
    do {
      try plan.replace(with: writes)
    } catch {
      complain("\(DaemonProgram.current.name) guard: \(plan.path): \(error.reason)")
      throw ExitCode.failure
    }
    return SafeStateNote(beside: plan.path).begin(Logger(label: "guard"))
  }

  /// Becomes the program. Returns the error number if that fails.
  private func become(with socket: Int32) -> Int32 {
    let open = fcntl(socket, F_DUPFD, 3)
    guard open >= 0 else { return errno }
    setenv("TACTUS_GUARD_FD", "\(open)", 1)
    setenv("TACTUS_GUARD_PERIOD_MS", "\(period.count / 1_000_000)", 1)
    var texts = words.map { strdup($0) } + [nil]
    defer { for text in texts { free(text) } }
    execvp(words[0], &texts)
    let failure = errno
    close(open)
    return failure
  }
}
