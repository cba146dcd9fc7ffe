import ArgumentParser
import Foundation

/// Reads the token that a command presents to a daemon.
public enum CommandToken {
  /// Returns the token from the file or, if no file is given, from TACTUS_TOKEN; `nil` if neither gives one. The token must
  /// be visible ASCII, so that it cannot break the HTTP header. If it cannot be used, prints the reason and throws the
  /// exit status of a failure.
  public static func read(file: String?) throws -> String? {
    var token = processEnvironment()["TACTUS_TOKEN"]
    if let file {
      guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
        complain("\(file): the file cannot be read")
        throw ExitCode.failure
      }
      token = text
    }
    guard let token = token?.trimmingCharacters(in: .whitespacesAndNewlines), !token.isEmpty else { return nil }
    guard token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      complain("the token from \(file ?? "TACTUS_TOKEN") holds characters that no token has")
      throw ExitCode.failure
    }
    return token
  }
}
