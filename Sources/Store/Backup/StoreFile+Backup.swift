import GRDB
import Synchronization
public import WallTime

extension StoreFile {
  /// Returns the store as the bytes of one SQLite file.
  ///
  /// - Parameter parts: the parts whose tables the file contains, or `nil` for all. It contains nothing of the others.
  public func backup(parts: Set<String>? = nil) throws(StoreError) -> [UInt8] {
    try snapshotting.withLock { _ throws(StoreError) in
      try writeCopy(to: shelf.unfinished, parts: parts)
      defer { try? Disk.remove(shelf.unfinished) }
      return try Disk.read(shelf.unfinished)
    }
  }

  /// Returns the whole store as the bytes of one SQLite file, and what is in them, part by part.
  public func backupWithContents() throws(StoreError) -> (bytes: [UInt8], contents: [HeldPart]) {
    try snapshotting.withLock { _ throws(StoreError) -> (bytes: [UInt8], contents: [HeldPart]) in
      try writeCopy(to: shelf.unfinished)
      defer { try? Disk.remove(shelf.unfinished) }
      let contents = try Self.held(inBackup: shelf.unfinished, systems: schema.systems)
      return (bytes: try Disk.read(shelf.unfinished), contents: contents)
    }
  }

  /// Writes the whole store to one SQLite file with mode 0600, which is on the disk when this returns.
  ///
  /// - Throws: `StoreError.failed` if a file of this name exists.
  public func backup(to file: String) throws(StoreError) {
    guard try Disk.size(file) == nil else {
      throw .failed(file: file, doing: "writing a backup", reason: "there is a file of that name")
    }
    try writeCopy(to: file)
    try Disk.sync(Disk.folder(of: file))
  }

  /// Checks a backup like a file that is opened, migrates it, and copies what a restore would replace, so that the restore can be undone.
  ///
  /// - Parameter parts: the parts to restore, or `nil` for all that the backup holds.
  /// - Throws: `StoreError.damaged`, `.newer` or `.foreign`, and `.lacksPart` if the backup does not hold one of `parts`. Nothing has been
  ///   changed after an error.
  public func check(_ backup: [UInt8], parts: Set<String>? = nil, at now: WallInstant) throws(StoreError)
    -> CheckedBackup
  {
    try copyingReplaced(try check(backup, named: "the backup", parts: parts, at: now))
  }

  /// Checks a backup in a file, with all parts that it holds, as `check` does with the bytes of a backup.
  public func check(backup file: String, at now: WallInstant) throws(StoreError) -> CheckedBackup {
    try copyingReplaced(try check(try Disk.read(file), named: file, parts: nil, at: now))
  }

  /// Checks the copy of the contents that the last restore has replaced, as `check` does with a backup, so that the
  /// copy can be restored in its turn.
  ///
  /// - Returns: the checked copy, or `nil` if there is none.
  public func checkReplaced(at now: WallInstant) throws(StoreError) -> CheckedBackup? {
    guard let last = try replaced().last else { return nil }
    return try check(backup: last.path, at: now)
  }

  /// Returns the changes that a restore of a backup would make, part by part, without making them.
  ///
  /// - Parameters:
  ///   - backup: the bytes of the backup.
  ///   - isWhole: whether `replace` will take the backup, and not `restore`.
  /// - Throws: The errors of `check`.
  public func inspect(_ backup: [UInt8], isWhole: Bool, at now: WallInstant) throws(StoreError) -> [ChangedPart] {
    let backup = try check(backup, named: "the backup", parts: nil, at: now)
    return try attached(backup, "looking into") { database in
      try schema.systems.map { system in
        ChangedPart(
          name: system.name,
          contents: backup.parts.contains(system.name)
            ? try system.contents.map { try $0.change(database, isWhole: isWhole) } : nil)
      }
    }
  }

  private func check(_ bytes: [UInt8], named name: String, parts: Set<String>?, at now: WallInstant) throws(StoreError)
    -> CheckedBackup
  {
    let number = checks.wrappingAdd(1, ordering: .relaxed).newValue
    let path = "\(shelf.restored)-\(number)"
    try Disk.write(bytes, to: path)
    do throws(StoreError) {
      let held: [String]
      switch try Inspection.verdict(on: path, schema: schema) {
      case .sound(let applied): held = schema.systems.filter { $0.isPart(ofFileWith: applied) }.map(\.name)
      case .newer(let unknown): throw .newer(file: name, unknown: unknown)
      case .foreign(let found): throw .foreign(file: name, found: found)
      case .damaged(let reason): throw .damaged(file: name, reason: reason)
      }
      if let missing = parts?.subtracting(held).min() { throw .lacksPart(file: name, part: missing, held: held) }
      try SQLite.bringUpToDate(path, schema)
      return CheckedBackup(
        name: name, path: path, parts: parts ?? Set(held), replaced: "\(replacedShelf.unfinished)-\(number)", made: now)
    } catch {
      CheckedBackup.remove(path)
      throw error
    }
  }

  private func copyingReplaced(_ backup: CheckedBackup) throws(StoreError) -> CheckedBackup {
    try Disk.makeFolders(replacedShelf.folder)
    try snapshotting.withLock { _ throws(StoreError) in try writeCopy(to: backup.replaced, parts: backup.parts) }
    return backup
  }

  /// Restores the parts of a backup, attached as `backup`, in one transaction: calls `restore` of every system, then `body`. What is replaced is
  /// kept: see `checkReplaced`.
  ///
  /// - Parameter body: returns whether to commit; `false` rolls everything back.
  /// - Returns: what `body` returned.
  public func restore(_ backup: CheckedBackup, _ body: (Database) throws -> Bool) throws(StoreError) -> Bool {
    try putInPlace(backup, "restoring") { database in
      for system in schema.systems where backup.parts.contains(system.name) { try system.restore(database) }
      return try body(database)
    }
  }

  /// Puts the parts of a backup in place of those of the store, with the rows that `restore` leaves as they are. For a program that holds nothing of
  /// the store in memory.
  ///
  /// - Throws: `StoreError`. The store is then as it was.
  public func replace(with backup: CheckedBackup) throws(StoreError) {
    _ = try putInPlace(backup, "replacing it with") { database in
      for system in schema.systems where backup.parts.contains(system.name) {
        for table in try system.tables() {
          let table = table.quotedDatabaseIdentifier
          try database.execute(
            sql: "DELETE FROM main.\(table); INSERT INTO main.\(table) SELECT * FROM backup.\(table)")
        }
      }
      return true
    }
  }

  private func putInPlace(
    _ backup: CheckedBackup, _ doing: String, _ body: (Database) throws -> Bool
  ) throws(StoreError) -> Bool {
    // The copy gets its name before anything is replaced: if the process is killed in between, one copy too many is left.
    let kept = try replacedShelf.name(backup.replaced, at: backup.made)
    var isTaken = false
    defer {
      if isTaken { try? replacedShelf.prune() } else { try? Disk.putInPlace(kept.path, as: backup.replaced) }
    }
    isTaken = try attached(backup, doing) { database in
      var isDone = false
      try database.inTransaction {
        isDone = try body(database)
        return isDone ? .commit : .rollback
      }
      if isDone { restores.wrappingAdd(1, ordering: .releasing) }
      return isDone
    }
    if isTaken { note(.byPeople) }
    return isTaken
  }

  private func attached<Result>(
    _ backup: CheckedBackup, _ doing: String, _ body: (Database) throws -> Result
  ) throws(StoreError) -> Result {
    let pool = try pool
    return try SQLite.translating(path, "\(doing) \(backup.name)") {
      try pool.writeWithoutTransaction { database in
        try database.execute(sql: "ATTACH ? AS backup", arguments: [backup.path])
        defer { try? database.execute(sql: "DETACH backup") }
        return try body(database)
      }
    }
  }
}

/// A backup that has been checked and migrated. It is a file beside the store, which is removed when the last reference to this object is released.
public final class CheckedBackup: Sendable {
  /// The names of the parts that a restore takes, which the backup holds.
  public let parts: Set<String>
  /// The name of the backup in errors.
  let name: String
  let path: String
  /// The instant at which the backup was checked.
  let made: WallInstant
  /// The path of the copy of the rows that a restore replaces.
  let replaced: String

  init(name: String, path: String, parts: Set<String>, replaced: String, made: WallInstant) {
    (self.name, self.path, self.parts) = (name, path, parts)
    (self.replaced, self.made) = (replaced, made)
  }

  deinit {
    Self.remove(path)
    Self.remove(replaced)
  }

  static func remove(_ path: String) {
    for suffix in ["", "-wal", "-shm", "-journal"] { try? Disk.remove(path + suffix) }
  }
}
