import ArgumentParser
import Service
import Wire

/// `tactus reload`
struct ReloadCommand: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "reload",
      abstract: "Has a running daemon take its configuration file as it is now, or says why it cannot.",
      discussion: """
        The daemon checks the whole file that it was started with. What may change while it runs (see check --reference) is taken by \
        every loop at the beginning of a tick, or by none; whatever else has changed is named with its place, and nothing is taken. \
        A tighter limit holds at once; a wider one when its system has been in its safe state. SIGHUP does not do this: it reopens the \
        log file.
        On the daemon's machine root and the service's own account need no token: the daemon that systemd runs leaves them a way in, in \
        its runtime directory. Everybody else needs a token of scope admin, from --token-file or from TACTUS_TOKEN in the environment, and \
        the daemon's host and port where they are not 127.0.0.1 and 8000.
        Exit status: 0 taken, 1 refused or not reached, 64 bad usage.
        """)
  }

  @Argument(help: "The daemon's name, address or URL. Unless given: this machine's daemon.")
  var host: String?

  @Option(help: "The daemon's port, when the host names none. Unless given: that of this machine's service, else 8000.")
  var port: UInt16?

  @Option(help: ArgumentHelp("A file that holds a token of scope admin.", valueName: "file"))
  var tokenFile: String?

  @Option(
    help: ArgumentHelp(
      "For https with a self-signed certificate: its SHA-256 fingerprint, as the daemon shows it.", valueName: "hex"))
  var fingerprint: String?

  func validate() throws {
    guard let address else {
      throw ValidationError("Expected a host name, address or URL without a path, got \(host ?? "").")
    }
    if fingerprint != nil, !address.isSecure { throw ValidationError("--fingerprint needs an https:// address.") }
  }

  private var address: ServiceAddress? { ServiceAddress(host ?? "127.0.0.1", port: Int(port ?? 8000)) }

  /// The way in that the daemon has left, or `nil` if another daemon is meant, or another token, or if there is none.
  private func localDoor() throws -> LocalDoor.Contents? {
    guard host == nil, port == nil, tokenFile == nil, fingerprint == nil else { return nil }
    let environment = processEnvironment()
    let door = LocalDoor(environment: environment)
    if let contents = door.read() { return contents }
    // As the unit's ExecReload there is no other way.
    guard environment["RUNTIME_DIRECTORY"] != nil else { return nil }
    complain(
      "\(door.path): expected the running daemon's way in, got none that can be read: it is starting, runs without its service "
        + "(service.enabled: false), or could not leave one; a restart takes the whole file")
    throw ExitCode.failure
  }

  func run() throws {
    let local = try localDoor()
    guard let address = local.map({ ServiceAddress($0.address) }) ?? address else { preconditionFailure("validated") }
    let token = try local?.token ?? CommandToken.read(file: tokenFile)
    let client = try ServiceClient(address, token: token, fingerprint: local?.fingerprint ?? fingerprint)
    defer { client.stop() }
    switch client.ask("POST", "/api/reload", limit: .seconds(20)) {
    case .success(let answer) where answer.status == 200:
      print(ReloadReport.text(answer.body))
    case .success(let answer):
      // Every error of the file has a line of its own.
      complain(ReloadReport.refusal(answer.body, status: answer.status, hasToken: token != nil))
      throw ExitCode.failure
    case .failure(let failure):
      complain("\(address): \(failure)")
      throw ExitCode.failure
    }
  }
}

/// What a reload is answered, for people.
enum ReloadReport {
  static func text(_ body: [UInt8]) -> String {
    let document = JSONValue(json: body)
    var lines = (document?["changed"]?.items ?? []).map { change in
      "\(change["key"]?.string ?? ""): \(change["from"]?.string ?? "nothing") → \(change["to"]?.string ?? "nothing")"
    }
    let waiting = (document?["waiting"]?.items ?? []).compactMap(\.string)
    if !waiting.isEmpty {
      lines.append("wider limits of \(waiting.joined(separator: ", ")) take effect after the next safe state")
    }
    lines += (document?["late"]?.items ?? []).compactMap(\.string).map { system in
      "\(system) has not taken it yet: its loop does not tick, or its disk does not answer; it takes it as soon as it can"
    }
    return lines.isEmpty ? "nothing has changed" : lines.joined(separator: "\n")
  }

  static func refusal(_ body: [UInt8], status: Int, hasToken: Bool) -> String {
    let text = JSONValue(json: body)?["message"]?.string ?? "refused with status \(status)"
    return status == 401 && !hasToken ? "\(text); put a token of scope admin into TACTUS_TOKEN" : text
  }
}
