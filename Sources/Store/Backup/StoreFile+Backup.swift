import GRDB
import Synchronization
public import WallTime

extension StoreFile {
  /// Returns the whole store as the bytes of one SQLite file.
  public func backup() throws(StoreError) -> [UInt8] {
    try snapshotting.withLock { _ throws(StoreError) in
      try writeCopy(to: shelf.unfinished)
      defer { try? Disk.remove(shelf.unfinished) }
      return try Disk.read(shelf.unfinished)
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

  /// Checks a backup as a file that is opened is checked, migrates it, and makes a snapshot of the present store, so that the restore can be undone.
  ///
  /// - Throws: `StoreError.damaged`, `.newer` or `.foreign`. Nothing has been changed after an error.
  public func check(_ backup: [UInt8], at now: WallInstant) throws(StoreError) -> CheckedBackup {
    try check(backup, named: "the backup", at: now)
  }

  /// Checks a backup in a file, as above.
  public func check(backup file: String, at now: WallInstant) throws(StoreError) -> CheckedBackup {
    try check(try Disk.read(file), named: file, at: now)
  }

  private func check(_ bytes: [UInt8], named name: String, at now: WallInstant) throws(StoreError) -> CheckedBackup {
    let number = checks.wrappingAdd(1, ordering: .relaxed).newValue
    let backup = CheckedBackup(name: name, path: "\(shelf.restored)-\(number)")
    try Disk.write(bytes, to: backup.path)
    switch try Inspection.verdict(on: backup.path, schema: schema) {
    case .sound: break
    case .newer(let unknown): throw .newer(file: name, unknown: unknown)
    case .foreign(let found): throw .foreign(file: name, found: found)
    case .damaged(let reason): throw .damaged(file: name, reason: reason)
    }
    try SQLite.bringUpToDate(backup.path, schema)
    try snapshot(at: now)
    return backup
  }

  /// Restores from a backup, attached as `backup`, in one transaction: calls `restore` of every system, then `body`.
  ///
  /// - Parameter body: returns whether to commit; `false` rolls everything back.
  /// - Returns: what `body` returned.
  public func restore(_ backup: CheckedBackup, _ body: (Database) throws -> Bool) throws(StoreError) -> Bool {
    let pool = try pool
    let isDone = try SQLite.translating(path, "restoring \(backup.name)") {
      try pool.writeWithoutTransaction { database in
        try database.execute(sql: "ATTACH ? AS backup", arguments: [backup.path])
        defer { try? database.execute(sql: "DETACH backup") }
        var isDone = false
        try database.inTransaction {
          for system in schema.systems { try system.restore(database) }
          isDone = try body(database)
          return isDone ? .commit : .rollback
        }
        return isDone
      }
    }
    if isDone {
      restores.wrappingAdd(1, ordering: .releasing)
      note(.byPeople)
    }
    return isDone
  }

  /// Puts a backup in place of the whole store, with the values that `restore` leaves as they are. For a program that holds nothing of the store in
  /// memory.
  ///
  /// - Throws: `StoreError`. The store is then as it was.
  public func replace(with backup: CheckedBackup) throws(StoreError) {
    let pool = try pool
    try SQLite.translating(path, "replacing it with \(backup.name)") {
      let source = try DatabaseQueue(path: backup.path, configuration: SQLite.configuration)
      defer { try? source.close() }
      try source.backup(to: pool)
    }
    restores.wrappingAdd(1, ordering: .releasing)
    note(.byPeople)
  }
}
