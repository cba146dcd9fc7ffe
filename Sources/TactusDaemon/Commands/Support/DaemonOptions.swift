import ArgumentParser
@_spi(FromOutside) import Conversions
import Service
import Wire

/// The options of a command that asks a running daemon, besides the daemon's name.
struct DaemonOptions: ParsableArguments {
  @Option(help: "The daemon's port, when the host names none. Unless given: that of this machine's service, else 8000.")
  var port: UInt16?

  @Option(help: ArgumentHelp("A file that holds a token; TACTUS_TOKEN holds one, too.", valueName: "file"))
  var tokenFile: String?

  @Option(
    help: ArgumentHelp(
      "For https with a self-signed certificate: its SHA-256 fingerprint, as the daemon shows it.", valueName: "hex"))
  var fingerprint: String?

  @Option(
    help: ArgumentHelp(
      "For https with service.client_ca: a PEM file with this client's certificate, in the place of a token.",
      valueName: "file"))
  var cert: String?

  @Option(help: ArgumentHelp("The PEM file of that certificate's key, without a password.", valueName: "file"))
  var key: String?

  /// The sentences about tokens for the help of a command.
  static let tokens = """
    On the daemon's machine root and the service's own account need no token: the daemon that systemd runs leaves them a way in, in \
    its runtime directory. Everybody else needs one, from --token-file or from TACTUS_TOKEN in the environment.
    """

  /// Returns the usage line of a command. These options are left out of it, because every refusal prints the line.
  ///
  /// - Parameter words: the command with its own options.
  static func usage(_ words: String) -> String { "\(DaemonProgram.current.name) \(words)" }

  /// Returns the address of the daemon that is called `host`, `nil` for this machine's.
  ///
  /// - Throws: `ValidationError` if the text is no address, or if the options do not fit it.
  @discardableResult
  func address(of host: String?) throws -> ServiceAddress {
    guard let address = ServiceAddress(host ?? "127.0.0.1", port: Int(port ?? 8000)) else {
      throw ValidationError("Expected a host name, address or URL without a path, got \(host ?? "").")
    }
    if fingerprint != nil, !address.isSecure { throw ValidationError("--fingerprint needs an https:// address.") }
    if (cert == nil) != (key == nil) { throw ValidationError("--cert and --key need each other.") }
    if cert != nil, !address.isSecure { throw ValidationError("--cert needs an https:// address.") }
    return address
  }

  /// Returns a client of the daemon that is called `host`, `nil` for this machine's, and the token that it presents.
  /// The caller must stop the client.
  func client(of host: String?) throws -> (client: ServiceClient, token: String?) {
    let local = try localAccess(host)
    let address = try local.flatMap { ServiceAddress($0.address) } ?? address(of: host)
    let token = try local?.token ?? CommandToken.read(file: tokenFile)
    let identity = cert.flatMap { cert in key.map { ClientIdentity(certificate: cert, key: $0) } }
    return (
      try ServiceClient(
        address, token: token, fingerprint: local?.fingerprint ?? fingerprint, identity: identity), token
    )
  }

  /// Returns the address and token that the local daemon has left for its own account, or `nil` if it has left none or
  /// an option names another daemon or token.
  private func localAccess(_ host: String?) throws -> LocalAccessFile.Contents? {
    guard host == nil, port == nil, tokenFile == nil, fingerprint == nil, cert == nil else { return nil }
    let environment = processEnvironment()
    let file = LocalAccessFile(environment: environment)
    if let contents = file.read() { return contents }
    // A reload by the unit's ExecReload has no other token.
    guard environment["RUNTIME_DIRECTORY"] != nil else { return nil }
    complain(
      "\(file.path): expected the running daemon's way in, got none that can be read: it is starting, runs without its service "
        + "(service.enabled: false), or could not leave one")
    throw ExitCode.failure
  }
}

/// The options of a command that names the daemon by `--host`, because its arguments are something else.
public struct DaemonAtHost: ParsableArguments {
  @Option(help: "The daemon's name, address or URL. Unless given: this machine's daemon.")
  var host: String?

  @OptionGroup var daemon: DaemonOptions

  /// Creates the options without values, for the parser of the command line.
  public init() {}

  /// Throws an error if the text is not an address, or if an option does not fit the address.
  public func validate() throws {
    try daemon.address(of: host)
  }

  /// Returns a client of the daemon, which the caller stops, and the token that it presents.
  func client() throws -> (client: ServiceClient, token: String?) { try daemon.client(of: host) }
}

extension ServiceClient.Failure {
  /// Returns the reason in words for people, with advice if nothing answers.
  ///
  /// - Parameters:
  ///   - address: the address of the daemon that was asked.
  ///   - host: the option that names the daemon, for the advice.
  func sentence(of address: ServiceAddress, namedBy host: String = "--host HOST") -> String {
    let (program, name) = (DaemonProgram.current, address.host)
    switch self {
    case .unknownName where program.kinds.contains(where: { $0.name == name }):
      return "\(name) is a system, not a host: \(program.name) call \(name) tells its state, "
        + "\(program.name) logs --system \(name) its log lines; a machine of that name is \(name).local"
    case .unknownName:
      let near = name.contains(".") ? "" : "such as \(name).local, "
      return "\(address): \(self): expected a name that this machine knows, \(near)or an address"
    case .unreachable:
      return
        "\(address): \(self): expected a running daemon there; start one with \(program.name) run --config FILE, or say "
        + "where it is with \(host) and --port PORT"
    case .timedOut:
      return
        "\(address): \(self): something takes connections there and says nothing: the daemon hangs, or is not given the processor. On its machine "
        + "systemctl status \(program.name) says whether it runs, and systemctl restart \(program.name) starts it again"
    case .withoutTLS, .badFingerprint, .badIdentity: return "\(address): \(self)"
    }
  }
}

extension ServiceClient.Answer {
  /// Returns the reason that an answer other than 200 gives, with the remedy if a token is missing.
  func refusal(hasToken: Bool) -> String {
    let message = JSONValue(json: body)?["message"]?.string ?? "refused with status \(status)"
    return status == 401 && !hasToken ? "\(message): give --token-file FILE or set TACTUS_TOKEN" : message
  }
}

/// The configuration file of a command, given as `--config FILE`, `-c FILE` or `FILE`.
struct ConfigFile: ParsableArguments {
  @Option(name: .shortAndLong, help: ArgumentHelp("The configuration file (YAML).", valueName: "file"))
  var config: String?

  @Argument(help: "The same, without --config.")
  var file: String?

  func validate() throws {
    if let config, let file {
      throw ValidationError("Expected one configuration file, got two: --config \(config) and \(file).")
    }
  }

  /// The path of the file, or `nil` if none is given.
  var path: String? { config ?? file }

  /// Returns the path for a command that needs a file; throws a usage error if none is given.
  func required() throws -> String {
    guard let path else { throw ValidationError("Expected a configuration file: --config FILE.") }
    return path
  }
}
