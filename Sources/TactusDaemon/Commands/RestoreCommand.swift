import ArgumentParser
import Foundation
import Service
import Store
import Tactus
import WallTime

/// The command `tactus restore`.
struct RestoreCommand: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "restore",
      abstract: "Puts a backup, or parts of it, in place: into a running daemon, or the store of a stopped one.",
      usage: DaemonOptions.usage(
        "restore <backup> | --undo [--look] [--parts <parts>] [--config <file>] [--json] [<options>]"),
      discussion: """
        Without --config a running daemon takes it (scope admin): records and schedules become those of the backup, logs are joined, and what is \
        about the present, such as counters, limits that are half used and settings, stays as it is. So do configuration and tokens.
        With --config FILE all of a whole backup is put in place, the daemon being stopped: FILE becomes the backup's configuration, the token file that \
        it names the backup's tokens, and its store what is in the backup. What is revoked here stays revoked. With --parts, and of a backup of \
        parts, the store alone is changed. A machine that never had a store gets one. What must still be brought, such as passwords, is printed.
        A part of the store that the backup does not hold stays as it is. --look says what would be lost and gained, and changes nothing.
        What a restore has replaced is kept: of the store beside it (the last five times), and it comes back with --undo; configuration and tokens \
        as FILE.replaced-TIME.
        \(DaemonOptions.tokens)
        Exit status: 0 restored, 64 bad usage, 78 bad configuration file, 1 anything else: what is not printed as being in \
        place has not changed.
        """)
  }

  @Argument(help: "The backup, or a snapshot beside the store.", completion: .file())
  var backup: String?

  @Flag(help: "Says what the restore would change, part by part, and changes nothing.")
  var look = false

  @Flag(help: "With --look: one JSON object, as POST /api/restore/look answers.")
  var json = false

  @Flag(help: "Puts back what the last restore has replaced. Once more: takes that back.")
  var undo = false

  @OptionGroup var chosen: ChosenParts

  @OptionGroup var place: StorePlace

  @OptionGroup var daemon: DaemonAtHost

  func validate() throws {
    if (backup == nil) != undo { throw ValidationError("Expected a backup, or --undo and none.") }
    if undo, look || chosen.parts != nil { throw ValidationError("--undo goes with neither --look nor --parts.") }
    if json, !look { throw ValidationError("--json belongs to --look.") }
    if look, chosen.parts != nil { throw ValidationError("--look tells of all parts; leave --parts away.") }
  }

  func run() throws {
    let bytes = try backup.map(read)
    let archive = try bytes.flatMap(whole)
    guard place.isNamed else { return try ask(bytes, isWhole: archive != nil) }
    if let archive {
      try restoreOrInspect(archive)
    } else if look, let bytes {
      try inspect(bytes)
    } else {
      try replace(by: bytes)
    }
  }

  /// Returns the archive that the bytes are, after checking all of it, or `nil` if they are a store's file.
  private func whole(_ bytes: [UInt8]) throws -> BackupArchive? {
    guard TarArchive.isArchive(bytes) else { return nil }
    do throws(TarArchive.Failure) {
      return try BackupArchive(bytes)
    } catch {
      complain("\(backup ?? ""): \(error); nothing was changed")
      throw ExitCode.failure
    }
  }

  /// Puts an archive, or parts of it, in place, or looks into it.
  private func restoreOrInspect(_ archive: BackupArchive) throws {
    if look { return try inspect(archive) }
    if chosen.parts == nil { return try replaceAll(by: archive) }
    guard let store = archive.store else {
      complain("\(backup ?? ""): expected a backup with a store, got one without: nothing was kept")
      throw ExitCode.failure
    }
    try replace(by: store)
  }

  private func read(_ backup: String) throws -> [UInt8] {
    let bytes: [UInt8]
    do throws(FileFailure) {
      bytes = try readWhole(backup, most: StoreRoutes.longestBackup, waitingForPipes: true) ?? []
    } catch {
      complain("\(backup): \(error.reason)")
      throw ExitCode.failure
    }
    guard !bytes.isEmpty else {
      complain("\(backup): expected a backup, got no file or an empty one")
      throw ExitCode.failure
    }
    return bytes
  }

  private func ask(_ bytes: [UInt8]?, isWhole: Bool) throws {
    let (client, token) = try daemon.client()
    defer { client.stop() }
    let path = "/api/restore" + (undo ? "/undo" : look ? "/look" : chosen.query)
    let type = isWhole ? BackupArchive.mediaType : StoreRoutes.mediaType
    switch client.ask("POST", path, body: bytes, bodyType: type, limit: .seconds(120)) {
    case .success(let answer) where answer.status == 200:
      if look {
        guard let found = try? JSONDecoder().decode(StoreLook.self, from: Data(answer.body)) else { break }
        printLook(found)
      } else {
        let what = backup.map { "taken \($0)" } ?? "again what the last restore replaced"
        print("\(client.address) has \(what). To take that back: \(DaemonProgram.current.name) restore --undo")
        if isWhole { print("Configuration and tokens stay: a stopped daemon takes the backup's, with --config FILE.") }
      }
      return
    case .success(let answer): complain("\(client.address): \(answer.refusal(hasToken: token != nil))")
    case .failure(.timedOut) where !look:
      complain(
        "\(client.address): no answer in time: whether it was restored is not known, and it may still be done later; "
          + "\(DaemonProgram.current.name) restore --look FILE says what differs")
    case .failure(let failure):
      complain("\(failure.sentence(of: client.address)); for a daemon that is stopped give --config FILE")
    }
    throw ExitCode.failure
  }

  private func inspect(_ bytes: [UInt8]) throws {
    let found = try place.use(needsStore: true) { file throws(StoreError) in
      try file.inspect(bytes, isWhole: true, at: .now)
    }
    printLook(StoreLook(found))
  }

  private func inspect(_ archive: BackupArchive) throws {
    if let store = archive.store { try inspect(store) }
    guard !json else { return }
    print("configuration: \(place.file), " + (isConfigured(by: archive) ? "the same" : "another one in the backup"))
  }

  private func printLook(_ found: StoreLook) {
    print(json ? String(decoding: encodeJSON(found), as: UTF8.self) : found.text)
  }

  private func replace(by bytes: [UInt8]?) throws {
    guard let before = try replace(in: try readConfiguration(place.file), by: bytes) else {
      complain("no restore has replaced anything")
      throw ExitCode.failure
    }
    print("\(backup ?? "What the last restore replaced"): restored.\nWhat was there before: \(before)")
  }

  /// Puts a store's file, or what the last restore has replaced, in the place of the store. Returns the path of what was there before, or `nil` if there
  /// is nothing to take back.
  func replace(in configuration: Configuration, by bytes: [UInt8]?) throws -> String? {
    let parts = try chosen.known()
    return try place.use(configuration, needsStore: bytes == nil) { file throws(StoreError) -> String? in
      let checked: CheckedBackup? =
        if let bytes {
          try file.check(bytes, parts: parts, at: .now)
        } else {
          try file.checkReplaced(at: .now)
        }
      guard let checked else { return nil }
      try file.replace(with: checked)
      return try file.replaced().last?.path
    }
  }
}

extension StoreLook {
  /// The changes in lines: a line for each part and, below it, one for each kind of row.
  var text: String {
    parts.flatMap { part in
      part.isInBackup
        ? [part.part] + part.contents.map { "  \($0.line)" } : ["\(part.part): not in the backup, stays as it is"]
    }.joined(separator: "\n")
  }
}

extension StoreLook.Rows {
  /// The changes of these rows in a line.
  fileprivate var line: String {
    func held(_ count: Int, _ newest: String?) -> String {
      "\(count)" + (newest.map { " (the newest of \($0))" } ?? "")
    }
    return "\(rows): \(held(now, newestISO)) now, \(held(inBackup, newestInBackupISO)) in the backup: "
      + "\(lost) lost, \(overwritten) overwritten, \(added) added"
  }
}
