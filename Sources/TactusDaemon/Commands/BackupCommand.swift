import ArgumentParser
import Foundation
import Service
import Store
import Tactus
import WallTime

/// The command `tactus backup`.
struct BackupCommand: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "backup",
      abstract:
        "Writes configuration, tokens and all that is kept to one file: records, schedules, logs, sessions; or parts of it.",
      usage: DaemonOptions.usage("backup [<file>] [--parts <parts>] [--config <file>] [--json] [<options>]"),
      discussion: """
        A running daemon gives it (scope admin); with --config FILE that file is taken with its tokens and its store, whose daemon must be stopped. \
        What is in the backup is printed, and what is not: passwords and keys, in the configuration file or in files of their own, and certificates. \
        Of tokens it has the hashes. It is an archive that tar opens; with --parts it is an SQLite file of the store alone.
        \(DaemonOptions.tokens)
        Exit status: 0 written, 64 bad usage, 78 bad configuration file, 1 anything else.
        """)
  }

  @OptionGroup var place: StorePlace

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "The file to write, which must not exist; - is standard output. Unless given: named by the time.",
      valueName: "file"))
  var output: String?

  @Argument(help: "The same, without --output.", completion: .file())
  var file: String?

  @Flag(help: "One JSON object for programs: the file, its bytes, and what is in it.")
  var json = false

  @OptionGroup var chosen: ChosenParts

  @OptionGroup var daemon: DaemonAtHost

  func validate() throws {
    if let output, let file { throw ValidationError("Expected one file, got two: --output \(output) and \(file).") }
    if json, (output ?? file) == "-" { throw ValidationError("--json needs a file: standard output has the backup.") }
  }

  func run() throws {
    let output = output ?? file ?? StoreRoutes.fileName(isWhole: chosen.parts == nil)
    if output == "-" { return try pour() }
    try NewFile.expectNone(at: output)
    let bytes = try read()
    try NewFile.write(bytes, to: output)
    do {
      let made: Made
      if TarArchive.isArchive(bytes) {
        made = Made(file: output, bytes: bytes.count, manifest: try BackupArchive(bytes).manifest)
      } else {
        let held = try StoreFile.held(inBackup: output, systems: DaemonProgram.current.storeSystems)
        made = Made(file: output, bytes: bytes.count, parts: StoreHeld(parts: held, replaced: nil).parts)
      }
      if json { return print(String(decoding: encodeJSON(made), as: UTF8.self)) }
      print(made.text, terminator: "")
      print(
        "\(output): \(bytes.count) bytes. To put it in place: \(DaemonProgram.current.name) restore \(MakingToken.quoted(output))"
          + (made.entries.isEmpty ? "" : " --config FILE, with the daemon stopped")
      )
    } catch {
      // A file that would look like a backup is removed.
      unlink(output)
      complain("\(output): \(error)")
      throw ExitCode.failure
    }
  }

  /// The result of the command as JSON, with `--json`.
  private struct Made: Encodable {
    var ok = true
    var file: String
    var bytes: Int
    /// The names of the archive's entries; empty for an SQLite file.
    var entries: [String] = []
    var parts: [StoreHeld.Part]
    /// The things that the program needs and the backup does not hold, a line for each.
    var notInIt: [String] = []

    init(file: String, bytes: Int, parts: [StoreHeld.Part]) {
      (self.file, self.bytes, self.parts) = (file, bytes, parts)
    }

    init(file: String, bytes: Int, manifest: BackupArchive.Manifest) {
      self.init(file: file, bytes: bytes, parts: manifest.parts)
      (entries, notInIt) = (manifest.entries.map(\.name), manifest.notInIt)
    }

    /// The description of the backup in lines for people.
    var text: String {
      let lines =
        entries.filter { $0 != BackupArchive.storeName } + parts.map(\.line) + notInIt.map { "not in it: \($0)" }
      return lines.map { "\($0)\n" }.joined()
    }
  }

  /// Writes the backup to standard output, for a pipe.
  private func pour() throws {
    guard isatty(1) == 0 else {
      complain("standard output is a terminal: expected a pipe or a file behind -o -, as in backup -o - > FILE")
      throw ExitCode(64)
    }
    let bytes = try read()
    if let reason = writeAll(bytes, to: 1).failure {
      complain("standard output: \(reason)")
      throw ExitCode.failure
    }
    complain("\(bytes.count) bytes")
  }

  private func read() throws -> [UInt8] {
    if place.isNamed {
      guard let parts = try chosen.known() else { return try all() }
      return try place.use(needsStore: true) { file throws(StoreError) in try file.backup(parts: parts) }
    }
    let (client, token) = try daemon.client()
    defer { client.stop() }
    let path = "/api/backup" + chosen.query
    switch client.ask("GET", path, most: StoreRoutes.longestBackup, limit: .seconds(60)) {
    case .success(let answer) where answer.status == 200: return answer.body
    case .success(let answer): complain("\(client.address): \(answer.refusal(hasToken: token != nil))")
    case .failure(let failure):
      complain(
        "\(failure.sentence(of: client.address)); to read the store of a daemon that is stopped give --config FILE")
    }
    throw ExitCode.failure
  }
}

extension BackupCommand {
  /// Returns a whole backup of a daemon that is stopped, or of one that keeps nothing.
  private func all() throws -> [UInt8] {
    let copy = try place.copy()
    let configuration = copy.taken.configuration
    let tokens: [UInt8]?
    do {
      tokens = try BackupArchive.tokens(at: TokenFileOptions.folder(of: configuration).path)
    } catch {
      complain("\(error)")
      throw ExitCode.failure
    }
    guard place.storePath(of: configuration) != nil else {
      return BackupArchive.make(configuration: copy, tokens: tokens, store: nil, parts: [])
    }
    let store = try place.use(configuration, needsStore: true) { file throws(StoreError) in
      try file.backupWithContents()
    }
    return BackupArchive.make(configuration: copy, tokens: tokens, store: store.bytes, parts: store.contents)
  }
}

/// The option that names the parts of the store that a command concerns.
struct ChosenParts: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Only these parts of the store, with commas between them; each system has one of its name. Unless given: all.",
      valueName: "parts"))
  var parts: String?

  /// The query that names the parts to a running daemon; empty if none is named.
  var query: String {
    guard let parts else { return "" }
    return "?parts=" + (parts.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
  }

  /// Returns the named parts after checking them against the systems of this program, or `nil` if none is named.
  func known() throws -> Set<String>? {
    guard let parts else { return nil }
    do throws(PartRefusal) {
      return try StoreFile.parts(in: parts, of: DaemonProgram.current.storeSystems)
    } catch {
      complain("--parts: \(error)")
      throw ExitCode.failure
    }
  }
}

extension DaemonProgram {
  /// The systems that keep something in the store.
  var storeSystems: [StoreSystem] { kinds.compactMap { $0.keeping?.tables } }
}

extension StoreHeld.Part {
  /// The part in a line, such as `pump: sessions 12, the newest of 2026-02-03T04:05:06Z`.
  fileprivate var line: String {
    let kinds = contents.map { held in
      "\(held.rows) \(held.count)" + (held.newestISO.map { ", the newest of \($0)" } ?? "")
    }
    return "\(part): " + kinds.joined(separator: "; ")
  }
}

/// The options that name the store of a daemon that is stopped.
struct StorePlace: ParsableArguments {
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "The configuration file of a stopped daemon, which is meant with its tokens and its store.", valueName: "file"))
  var config: String?

  @Flag(help: "With --config: the store of a daemon that is started with --simulate.")
  var simulate = false

  func validate() throws {
    if simulate, config == nil { throw ValidationError("--simulate belongs to --config FILE.") }
  }

  /// Whether a store is named.
  var isNamed: Bool { config != nil }

  /// Opens the store, calls `body`, and closes the store. If root runs the command, it acts as the owner of the store's
  /// folder meanwhile, so that the daemon can use the files that are made.
  ///
  /// - Parameter needsStore: whether it is an error if there is no store yet; otherwise one is made.
  func use<Result>(needsStore: Bool, _ body: (StoreFile) throws(StoreError) -> Result) throws -> Result {
    try use(try readConfiguration(file), needsStore: needsStore, body)
  }

  /// The path of the configuration file.
  var file: String {
    guard let config else { preconditionFailure("no store is named") }
    return config
  }

  /// Returns the configuration file as a backup holds it. If the file has errors, prints all of them and throws the exit status 78.
  func copy() throws -> ConfigurationCopy {
    do throws(ConfigErrors) {
      return try ConfigurationCopy(of: file, environment: processEnvironment())
    } catch {
      complain("\(error)")
      throw ExitCode.badConfig
    }
  }

  /// Returns the path of the store of a configuration, or `nil` if none of its systems keeps anything.
  func storePath(of configuration: Configuration) -> String? {
    configuration.storePath(simulate: simulate, environment: processEnvironment())
  }

  /// Does the same with the store of a configuration that has been read already.
  func use<Result>(
    _ configuration: Configuration, needsStore: Bool, _ body: (StoreFile) throws(StoreError) -> Result
  ) throws -> Result {
    guard let path = storePath(of: configuration), let store = configuration.store else {
      complain("\(configuration.file): none of its systems keeps anything")
      throw ExitCode.failure
    }
    let account = (user: geteuid(), group: getegid())
    defer {
      _ = seteuid(account.user)
      _ = setegid(account.group)
    }
    Self.becomeOwner(of: path)
    let file = StoreFile(
      path, systems: DaemonProgram.current.storeSystems, policy: store.policy,
      mounts: configuration.mounts(simulate: simulate, environment: processEnvironment()))
    if needsStore, access(path, F_OK) != 0 {
      complain("\(path): there is no store: \(String(cString: strerror(errno)))")
      throw ExitCode.failure
    }
    do throws(StoreError) {
      for line in try file.open(at: .now).lines { complain(line) }
      defer { try? file.close() }
      return try body(file)
    } catch {
      let advice =
        if case .inUse = error {
          ": stop the daemon first, or leave --config away to ask the running daemon"
        } else {
          ""
        }
      complain("\(error)\(advice)")
      throw ExitCode.failure
    }
  }

  private static func becomeOwner(of path: String) {
    guard geteuid() == 0 else { return }
    var status = stat()
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    guard stat(folder, &status) == 0, status.st_uid != 0 else { return }
    _ = setegid(status.st_gid)
    _ = seteuid(status.st_uid)
  }
}
