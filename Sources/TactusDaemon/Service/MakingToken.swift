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

  /// Returns the shell command that makes a token and exports it as `TACTUS_TOKEN`, without printing it, so that `curl`
  /// and the program's commands can use it. Each token has a name of its own, so that the command works at every start,
  /// and expires by itself.
  static func variable(file: String, environment: [String: String]) -> String {
    let command = command(file: file, environment: environment, name: "terminal-$(date +%s%N) --expires 12h")
    return "export TACTUS_TOKEN=$(\(command))"
  }

  /// Returns the command that makes a token for a new device and shows the ticket with which that device gets it, as a
  /// QR code. The daemon requires a token of scope admin, so the command also makes one for itself that is valid for an
  /// hour.
  ///
  /// - Parameters:
  ///   - file: the daemon's token file.
  ///   - name: the name of the device's token.
  ///   - page: the address of the page without a slash at its end, as this machine and the device reach it.
  ///   - fingerprint: the SHA-256 of the daemon's certificate, or `nil` without TLS.
  static func ticket(
    file: String, environment: [String: String], name: String, page: String, fingerprint: String?
  ) -> String {
    let admin = command(
      file: file, environment: environment, name: "ticket-$(date +%s%N) --scope admin --expires 1h")
    let pin = fingerprint.map { " --fingerprint \($0)" } ?? ""
    return "TACTUS_TOKEN=$(\(admin)) \(program(environment)) token create --name \(name) --qr \(page)\(pin)"
  }

  /// Returns the command that does the same for root on the machine of a daemon that is a service: the way in that the
  /// daemon leaves for root needs no token, and knows the certificate.
  static func ticketOfService(environment: [String: String], name: String, page: String) -> String {
    "sudo \(program(environment)) token create --name \(name) --qr \(page)"
  }

  /// Returns the program as a user types it in a shell: its name if the shell finds it on its path, otherwise its full path.
  static func program(_ environment: [String: String]) -> String {
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
