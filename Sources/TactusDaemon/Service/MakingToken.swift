import Glibc

/// The command that makes a token for this daemon, as a user types it in a shell.
enum MakingToken {
  /// Returns the command.
  ///
  /// - Parameters:
  ///   - file: the daemon's token file, which must be named because a shell with another home directory would not find it.
  ///   - environment: the environment of the daemon.
  static func command(file: String, environment: [String: String], name: String) -> String {
    // The files of a service do not belong to the user.
    let prefix = environment["NOTIFY_SOCKET"] == nil ? "" : "sudo "
    return prefix + "\(program(environment)) token create --name \(name) --token-file \(quoted(absolute(file)))"
  }

  /// Returns the command that makes a token and keeps it in the variable of a terminal, where `curl` and the program's commands find it. It does not
  /// print the token. Each token has a name of its own, so that the command works at every start, and expires by itself.
  static func variable(file: String, environment: [String: String]) -> String {
    let command = command(file: file, environment: environment, name: "terminal-$(date +%s%N) --expires 12h")
    return "export TACTUS_TOKEN=$(\(command))"
  }

  /// Returns the program's name if a shell finds it on its path, otherwise its full path.
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

  /// Returns the text, quoted if necessary, as one word of a shell.
  static func quoted(_ word: String) -> String {
    let isPlain = word.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "/._-+=:@%,".contains($0)) }
    return isPlain ? word : "'" + word.replacing("'", with: "'\\''") + "'"
  }
}
