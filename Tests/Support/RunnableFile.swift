import Foundation

/// Programs that a test makes and then runs.
///
/// Another process writes them: a file that this one has open for writing is inherited by every process that another thread starts meanwhile, and the
/// kernel runs no file that anybody may still write (ETXTBSY).
public enum RunnableFile {
  /// Makes a script at a path, or replaces it.
  public static func write(_ script: String, to path: String) throws {
    try sh("printf '%s\\n' \"$1\" > \"$2\" && chmod 755 \"$2\"", script, path)
  }

  /// Copies a program to a path.
  public static func copy(_ program: String, to path: String) throws { try sh("cp \"$1\" \"$2\"", program, path) }

  private static func sh(_ command: String, _ arguments: String...) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", command, "sh"] + arguments
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw CocoaError(.fileWriteUnknown) }
  }
}
