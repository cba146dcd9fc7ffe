import ArgumentParser
import Foundation
import Service
import Store
import Tactus
import WallTime

/// The command `tactus backup`.
struct BackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Writes everything that the store keeps to one file: records, schedules, logs, sessions, kept settings.",
    discussion: """
      A running daemon gives it (scope admin); with --config FILE the store of that file is read, whose daemon must be stopped. The \
      configuration file and the tokens are files of their own: copy them, too, if you move to another card.
      \(DaemonOptions.tokens)
      Exit status: 0 written, 64 bad usage, 78 bad configuration file, 1 anything else.
      """)

  @OptionGroup var place: StorePlace

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("The file to write, which must not exist. Unless given: named by the time.", valueName: "file"))
  var output: String?

  @OptionGroup var daemon: DaemonAtHost

  func run() throws {
    let output = output ?? StoreRoutes.fileName
    let descriptor = open(output, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      complain("\(output): \(String(cString: strerror(errno)))")
      throw ExitCode.failure
    }
    do {
      let bytes = try read()
      let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      try handle.write(contentsOf: Data(bytes))
      try handle.synchronize()
      print(
        "\(output): \(bytes.count) bytes. To put it in place: \(DaemonProgram.current.name) restore \(MakingToken.quoted(output))"
      )
    } catch {
      // Nothing that looks like a backup is left.
      unlink(output)
      if !(error is ExitCode) { complain("\(output): \(error)") }
      throw ExitCode.failure
    }
  }

  private func read() throws -> [UInt8] {
    if place.isNamed { return try place.use(needsStore: true) { file throws(StoreError) in try file.backup() } }
    let (client, token) = try daemon.client()
    defer { client.stop() }
    switch client.ask("GET", "/api/backup", most: StoreRoutes.longestBackup, limit: .seconds(60)) {
    case .success(let answer) where answer.status == 200: return answer.body
    case .success(let answer): complain("\(client.address): \(answer.refusal(hasToken: token != nil))")
    case .failure(let failure):
      complain("\(client.address): \(failure); to read the store of a daemon that is stopped give --config FILE")
    }
    throw ExitCode.failure
  }
}

/// The command `tactus restore`.
struct RestoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Puts a backup in place: into a running daemon, or as the whole store of one that is stopped.",
    discussion: """
      Without --config a running daemon takes it (scope admin): records and schedules become those of the backup, logs are joined, and what is \
      about the present, such as counters, limits that are half used and settings, stays as it is.
      With --config FILE the store of that file becomes the backup, with all that is in it. The daemon must be stopped. A machine that \
      never had a store gets one.
      Either way the present state is kept as a snapshot beside the store before: it can be restored like any backup.
      \(DaemonOptions.tokens)
      Exit status: 0 restored, 64 bad usage, 78 bad configuration file, 1 anything else, and then nothing has changed.
      """)

  @Argument(help: "The backup, or a snapshot beside the store.")
  var backup: String

  @OptionGroup var place: StorePlace

  @OptionGroup var daemon: DaemonAtHost

  func run() throws {
    let bytes: [UInt8]
    do throws(FileFailure) {
      bytes = try readWhole(backup, most: StoreRoutes.longestBackup) ?? []
    } catch {
      complain("\(backup): \(error.reason)")
      throw ExitCode.failure
    }
    guard !bytes.isEmpty else {
      complain("\(backup): expected a backup, got no file or an empty one")
      throw ExitCode.failure
    }
    if place.isNamed { try replace(with: bytes) } else { try give(bytes) }
  }

  private func give(_ bytes: [UInt8]) throws {
    let (client, token) = try daemon.client()
    defer { client.stop() }
    switch client.ask("POST", "/api/restore", body: bytes, bodyType: "application/vnd.sqlite3", limit: .seconds(120)) {
    case .success(let answer) where answer.status == 200:
      print("\(client.address) has taken \(backup). What was there before is the newest snapshot beside its store.")
      return
    case .success(let answer): complain("\(client.address): \(answer.refusal(hasToken: token != nil))")
    case .failure(let failure):
      complain("\(client.address): \(failure); for a daemon that is stopped give --config FILE")
    }
    throw ExitCode.failure
  }

  private func replace(with bytes: [UInt8]) throws {
    let snapshot = try place.use(needsStore: false) { file throws(StoreError) in
      let checked = try file.check(bytes, at: .now)
      try file.replace(with: checked)
      return try file.snapshots().last?.path
    }
    print("\(backup): restored.")
    if let snapshot {
      print("What was there before: \(snapshot)")
    }
  }
}

/// The options that name the store of a daemon that is stopped.
struct StorePlace: ParsableArguments {
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("The configuration file of a stopped daemon: its store is used.", valueName: "file"))
  var config: String?

  @Flag(help: "With --config: the store of a daemon that is started with --simulate.")
  var simulate = false

  func validate() throws {
    if simulate, config == nil { throw ValidationError("--simulate belongs to --config FILE.") }
  }

  /// Whether a store is named.
  var isNamed: Bool { config != nil }

  /// Opens the store, calls `body`, and closes the store. A command of root's works as the owner of the store's folder meanwhile, so that the
  /// daemon can use what is made there.
  ///
  /// - Parameter needsStore: whether it is an error if there is no store yet; otherwise one is made.
  func use<Result>(needsStore: Bool, _ body: (StoreFile) throws(StoreError) -> Result) throws -> Result {
    guard let config else { preconditionFailure("no store is named") }
    let configuration = try readConfiguration(config)
    let environment = processEnvironment()
    guard let path = configuration.storePath(simulate: simulate, environment: environment),
      let store = configuration.store
    else {
      complain("\(config): none of its systems keeps anything")
      throw ExitCode.failure
    }
    let account = (user: geteuid(), group: getegid())
    defer {
      _ = seteuid(account.user)
      _ = setegid(account.group)
    }
    Self.becomeOwner(of: path)
    let file = StoreFile(
      path, systems: DaemonProgram.current.kinds.compactMap { $0.keeping?.tables }, policy: store.policy,
      mounts: configuration.mounts(simulate: simulate, environment: environment))
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
