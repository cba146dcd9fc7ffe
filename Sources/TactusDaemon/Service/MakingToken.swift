import Glibc

/// The command that makes a token for this daemon, as a user types it.
enum MakingToken {
  /// - Parameters:
  ///   - file: the daemon's token file, which a shell with another home would not find.
  ///   - environment: the daemon's.
  static func command(file: String, environment: [String: String], name: String = "phone") -> String {
    // A service's files are not the user's.
    let prefix = environment["NOTIFY_SOCKET"] == nil ? "" : "sudo "
    return prefix + "\(program(environment)) token create --name \(name) --token-file \(quoted(absolute(file)))"
  }

  /// `tactus` where a shell finds it, or its path.
  private static func program(_ environment: [String: String]) -> String {
    let name = DaemonProgram.current.name
    let own = DaemonProgram.path
    let folders = (environment["PATH"] ?? "").split(separator: ":").map(String.init)
    return folders.contains { $0 + "/" + name == own } ? name : quoted(own)
  }

  private static func absolute(_ path: String) -> String {
    guard !path.hasPrefix("/"), let folder = getcwd(nil, 0) else { return path }
    defer { free(folder) }
    return String(cString: folder) + "/" + path
  }

  /// As one word of a shell.
  static func quoted(_ word: String) -> String {
    let isPlain = word.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "/._-+=:@%,".contains($0)) }
    return isPlain ? word : "'" + word.replacing("'", with: "'\\''") + "'"
  }
}
