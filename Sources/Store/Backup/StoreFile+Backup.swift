import GRDB
import Synchronization
public import WallTime

extension StoreFile {
  /// The whole store as the bytes of one SQLite file.
  public func backup() throws(StoreError) -> [UInt8] {
    try snapshotting.withLock { _ throws(StoreError) in
      try writeCopy(to: shelf.unfinished)
      defer { try? Disk.remove(shelf.unfinished) }
      return try Disk.read(shelf.unfinished)
    }
  }

  /// The whole store as one SQLite file, mode 0600, that is on the disk when this returns.
  ///
  /// - Throws: `StoreError.failed` if there is something of that name.
  public func backup(to file: String) throws(StoreError) {
    guard try Disk.size(file) == nil else {
      throw .failed(file: file, doing: "writing a backup", reason: "there is a file of that name")
    }
    try writeCopy(to: file)
    try Disk.sync(Disk.folder(of: file))
  }

  /// Looks at a backup as at a file that is opened, brings it up to date, and makes a snapshot of what is here: the way back.
  ///
  /// - Throws: `StoreError.damaged`, `.newer`, `.foreign`. Nothing has been changed then.
  public func check(_ backup: [UInt8], at now: WallInstant) throws(StoreError) -> CheckedBackup {
    try check(backup, named: "the backup", at: now)
  }

  /// The same, from a file.
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

  /// Restores from a backup, attached as `backup`, in one transaction: every system's `restore`, then `body`.
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
}
