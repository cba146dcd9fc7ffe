import ArgumentParser
import Confinement
import Glibc
import Service
import Tactus
import Wire

/// The command `tactus token`.
struct TokenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "token",
    abstract: "Makes, lists, renews and revokes the tokens of the HTTP service.",
    discussion: """
      A token goes with every request: curl -H "Authorization: Bearer $TOKEN" http://HOST:8000/api/status
      Only its hash is kept, in the token file; a running daemon sees every change at once.
      """,
    subcommands: [TokenCreateCommand.self, TokenListCommand.self, TokenRotateCommand.self, TokenRevokeCommand.self])
}

/// The options that name the token file, for a command that has an argument already.
struct TokenFileOptions: ParsableArguments {
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("The daemon's configuration file: its token file is taken.", valueName: "file"))
  var config: String?

  @Option(help: ArgumentHelp("The token file itself.", valueName: "path"))
  var tokenFile: String?

  func validate() throws { try Self.check(config, tokenFile) }

  func folder() throws -> TokenFolder { try Self.folder(config, tokenFile) }

  static func check(_ config: String?, _ tokenFile: String?) throws {
    if config != nil && tokenFile != nil { throw ValidationError("Give one of --config and --token-file.") }
  }

  /// Returns the folder of the token file. Ends the command with status 78 if the configuration has errors.
  static func folder(_ config: String?, _ tokenFile: String?) throws -> TokenFolder {
    if let tokenFile { return TokenFolder(path: tokenFile) }
    return folder(of: try config.map { try readConfiguration($0) })
  }

  /// Returns the folder of the token file of a configuration, or of the standard one.
  static func folder(of configuration: Configuration?) -> TokenFolder {
    var environment = processEnvironment()
    let program = DaemonProgram.current.name
    if let named = configuration?.tokenFile { return TokenFolder(path: named) }
    // A daemon that root starts changes to the configured account before it looks for its files.
    if Account.current.user == 0, let account = configuration?.user.flatMap(Account.init(named:)), account.user != 0 {
      environment = account.environment(from: environment)
      return TokenFolder(
        path: TokenFile.standardPath(of: program, environment: environment, isWritable: { isOpen($0, to: account) }))
    }
    return TokenFolder(path: TokenFile.standardPath(of: program, environment: environment))
  }
}

/// The options and the argument that name the token file, directly or through the daemon's configuration file.
struct TokenPlace: ParsableArguments {
  @OptionGroup var config: ConfigFile

  @Option(help: ArgumentHelp("The token file itself.", valueName: "path"))
  var tokenFile: String?

  func validate() throws { try TokenFileOptions.check(config.path, tokenFile) }

  func folder() throws -> TokenFolder { try TokenFileOptions.folder(config.path, tokenFile) }
}

/// Returns whether another account may write to a folder, judged by the folder's owner, group and mode.
private func isOpen(_ folder: String, to account: Account) -> Bool {
  var status = stat()
  guard stat(folder, &status) == 0 else { return false }
  return status.st_uid == account.user || (status.st_gid == account.group && status.st_mode & 0o020 != 0)
}

/// The present time in seconds since 1970.
private var now: Int64 { WallClock.microseconds / 1_000_000 }

/// Prints a secret alone on standard output, so that `TOKEN=$(tactus token create …)` works, and the accompanying advice on standard error.
private func hand(_ text: String, of record: TokenRecord, in folder: TokenFolder, _ advice: String...) {
  complain("token \(record.id) (\(record.name), \(record.scope.rawValue)) in \(folder.path)")
  for line in advice { complain(line) }
  complain("This is the only time it is shown:")
  print(text)
}

/// Returns the result of `body`. If the token file fails, prints the reason in one line and throws the exit status 1.
private func orComplain<Result>(_ body: () throws(TokenFileError) -> Result) throws -> Result {
  do throws(TokenFileError) {
    return try body()
  } catch {
    complain("\(error)")
    throw ExitCode.failure
  }
}

/// The command `tactus token create`.
struct TokenCreateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create",
    abstract: "Makes a token and prints it, once.",
    discussion: """
      No two valid tokens have one name. Exit status 1 if there is one of that name, or the file cannot be used.
      Examples:
        tactus token create --name phone
        tactus token create --name prometheus --scope read --expires 90d
        TOKEN=$(tactus token create --name script --config /etc/tactus/tactus.yaml)
        sudo tactus token create --name "Anna's phone" --qr http://NAME.local:8000
      With --qr the running daemon makes it, and a new device gets it by an address that is good once. Root and the service's account need no \
      token for that, and no --fingerprint; everybody else needs a token of scope admin in TACTUS_TOKEN.
      """)

  @Option(help: "What people call it.")
  var name: String

  @Option(help: "read: look; control: move too; admin: change the daemon too.")
  var scope: Scope = .control

  @Option(help: ArgumentHelp("How long it is valid: 90d, 12h; for ever unless given.", valueName: "time"))
  var expires: LongTimeSpan?

  @Option(
    help: ArgumentHelp(
      "Instead of the token: a ticket for a new device, as a QR code. The page's address as that device reaches it.",
      valueName: "address"))
  var qr: String?

  @Option(
    help: ArgumentHelp(
      "With --qr https://… and a self-signed certificate: its SHA-256 fingerprint, as the daemon shows it.",
      valueName: "hex"))
  var fingerprint: String?

  @OptionGroup var file: TokenPlace

  /// The request for a ticket, or `nil` if the text of `--qr` is not an address.
  private var ticket: TicketRequest? {
    qr.flatMap {
      TicketRequest(
        name: name, scope: scope, validSeconds: expires?.seconds, page: $0, fingerprint: fingerprint)
    }
  }

  func validate() throws {
    if let flaw = GivenName.flaw(in: name, TokenFile.nameLength) {
      throw ValidationError("Expected \(TokenFile.nameRule), got \(flaw).")
    }
    if let space = GivenName.misplacedSpace(in: name) {
      throw ValidationError("Expected \(GivenName.spaceRule), got \(space).")
    }
    if expires?.seconds == 0 {
      throw ValidationError("Expected for --expires at least 1s, such as 12h or 90d, got 0: it would never be valid.")
    }
    if fingerprint != nil, qr?.hasPrefix("https://") != true {
      throw ValidationError("--fingerprint needs --qr with an https:// address.")
    }
    guard let qr else { return }
    if ticket == nil {
      throw ValidationError("Expected for --qr an address such as http://NAME.local:8000, got \(qr).")
    }
    if file.config.path != nil || file.tokenFile != nil {
      throw ValidationError(
        "With --qr the running daemon's own token file is taken: leave out --config and --token-file.")
    }
  }

  func run() throws {
    if let ticket { return try ticket.print() }
    let folder = try file.folder()
    let time = now
    let (record, text) = try orComplain { () throws(TokenFileError) in
      try folder.change { file throws(TokenFileError) in
        try file.checkIsNew(name: name, now: time)
        try file.makeRoom(now: time)
        return file.create(name: name, scope: scope, expires: expires.map { time + $0.seconds }, now: time)
      }
    }
    hand(text, of: record, in: folder)
  }
}

/// The command `tactus token list`.
struct TokenListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Lists the tokens, never their secrets.",
    discussion: """
      Examples:
        tactus token list
        tactus token list --json --token-file /var/lib/tactus/tokens.json
      """)

  @Flag(help: "One JSON object; times in seconds since 1970.")
  var json = false

  @OptionGroup var file: TokenPlace

  func run() throws {
    let folder = try file.folder()
    let tokens = try orComplain { () throws(TokenFileError) in try folder.read() }
    let make = MakingToken.command(
      file: folder.path, environment: ["PATH": processEnvironment()["PATH"] ?? ""], name: "NAME")
    print(json ? TokenList.json(tokens, now: now) : TokenList.table(tokens, now: now, make: make))
  }
}

/// The command `tactus token rotate`.
struct TokenRotateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rotate",
    abstract: "Gives a token another secret and prints it, once; the old one goes on working for a while.",
    discussion: """
      Examples:
        tactus token rotate abcdefgh
        tactus token rotate abcdefgh --grace 1h
      """)

  @Argument(help: "The token's name or ID: see tactus token list.")
  var id: String

  @Option(help: ArgumentHelp("How long the old secret goes on working; 0 ends it at once.", valueName: "time"))
  var grace: LongTimeSpan = LongTimeSpan(seconds: 86_400)

  @OptionGroup var file: TokenFileOptions

  func run() throws {
    let folder = try file.folder()
    let (record, text) = try orComplain { () throws(TokenFileError) in
      try folder.change { file throws(TokenFileError) in
        try file.rotate(file.identifier(of: id, now: now), grace: grace.seconds, now: now)
      }
    }
    hand(text, of: record, in: folder, "The old secret works until \(CivilTime.text(record.previousUntil ?? 0)).")
  }
}

/// The command `tactus token revoke`.
struct TokenRevokeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke",
    abstract: "Refuses a token from now on.",
    discussion: """
      Examples:
        tactus token revoke phone
        tactus token revoke --jti 4f1c0e9a
      """)

  @Argument(help: "The token's name or ID: see tactus token list.")
  var id: String?

  @Option(help: "Instead of a name or ID: the jti of a JSON web token.")
  var jti: String?

  @OptionGroup var file: TokenFileOptions

  func validate() throws {
    if (id == nil) == (jti == nil) { throw ValidationError("Give a name, an ID or --jti.") }
  }

  func run() throws {
    let folder = try file.folder()
    try orComplain { () throws(TokenFileError) in
      try folder.change { file throws(TokenFileError) in
        if let id { try file.revoke(file.identifier(of: id, now: now), now: now) }
        if let jti { file.revokeJWT(jti) }
      }
    }
    complain("\(id ?? jti ?? "") is revoked in \(folder.path)")
  }
}

extension Scope: ExpressibleByArgument {}
