import Glibc
import Tactus

/// The program of a child, and the timeout by which it is watched.
public struct ChildProgram: Sendable {
  /// The path of the program.
  let path: String
  /// The arguments of the program, without its name.
  let arguments: [String]
  /// The name of the child in log lines, such as `the video process`.
  let title: String
  /// The maximum time between two messages of the child, or `nil` if the child need not send any.
  let silence: Nanoseconds?
  /// Advice for the case that the program is missing; empty if the path is sufficient.
  let advice: String

  /// Creates the description of a program.
  ///
  /// - Parameters:
  ///   - path: the path of the program. A name without `/` refers to the folder of this program.
  ///   - title: the name of the child in log lines, such as `the video process`.
  ///   - silence: the maximum time between two messages, more than 0, after which the child is killed and started
  ///     again; `nil` if the child need not send any.
  ///   - advice: advice for the case that the program is missing, such as `it belongs beside tactus`.
  public init(
    _ path: String, _ arguments: [String] = [], called title: String, silence: Nanoseconds? = nil, advice: String = ""
  ) {
    self.path = path.contains("/") ? path : DaemonProgram.beside(path)
    (self.arguments, self.title, self.silence, self.advice) = (arguments, title, silence, advice)
  }

  /// Describes a program that does not confine itself. The daemon's program confines the process before executing the
  /// given one: without privileges and without network, it may read the system's programs and libraries and the given
  /// folders, may write nothing, and ends with the daemon.
  ///
  /// - Parameters:
  ///   - command: the path of the program and its arguments.
  ///   - readable: patterns of additional files and folders that it may read.
  ///   - devices: patterns of devices that it may open for reading and writing.
  public static func confined(
    _ command: [String], reads readable: [String] = [], devices: [String] = [], called title: String,
    silence: Nanoseconds? = nil
  ) -> ChildProgram {
    precondition(!command.isEmpty, "\(title): a command has a program")
    let needs = ConfinedChild.arguments(readable: readable, devices: devices)
    return ChildProgram(DaemonProgram.path, ["child"] + needs + command, called: title, silence: silence)
  }

  /// Calls `body` with the command line as a C array, which is valid during the call.
  func withArguments<Result>(_ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result) -> Result {
    let words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    return body(words)
  }
}
