import ArgumentParser
import Foundation

/// The token that a command shows at a daemon's door.
public enum CommandToken {
  /// From the file, or else from TACTUS_TOKEN; nil when there is none. Visible ASCII only: a header must not be broken by what
  /// a file holds. Complains and ends the command when it cannot be used.
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
