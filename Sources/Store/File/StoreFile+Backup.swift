import GRDB
public import Sprinkler
import Synchronization

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

  /// Replaces what is kept by a backup: see `restore(_:at:)`.
  public func restore(from file: String, at now: WallInstant) throws(StoreError) {
    try restore(try Disk.read(file), named: file, at: now)
  }

  /// Replaces what is kept by a backup, in one transaction, after a snapshot of what was there.
  ///
  /// A backup of an older version is brought up to date first. What each system takes from it and what it keeps is said in the
  /// README.
  ///
  /// - Throws: `StoreError.damaged`, `.newer`, `.foreign`; nothing has been changed then.
  public func restore(_ bytes: [UInt8], at now: WallInstant) throws(StoreError) {
    try restore(bytes, named: "the backup", at: now)
  }

  private func restore(_ bytes: [UInt8], named name: String, at now: WallInstant) throws(StoreError) {
    let copy = "\(shelf.folder)/restored"
    let leftovers = ["", "-wal", "-shm", "-journal"].map { copy + $0 }
    for file in leftovers { try Disk.remove(file) }
    defer { for file in leftovers { try? Disk.remove(file) } }
    try Disk.write(bytes, to: copy)
    switch try Inspection.verdict(on: copy, schema: schema) {
    case .sound: break
    case .newer(let unknown): throw .newer(file: name, unknown: unknown)
    case .foreign(let found): throw .foreign(file: name, found: found)
    case .damaged(let reason): throw .damaged(file: name, reason: reason)
    }
    try SQLite.bringUpToDate(copy, schema)
    try snapshot(at: now)
    try SQLite.translating(path, "restoring \(name)") {
      try pool.writeWithoutTransaction { database in
        try database.execute(sql: "ATTACH ? AS backup", arguments: [copy])
        defer { try? database.execute(sql: "DETACH backup") }
        try database.inTransaction {
          for system in schema.systems { try system.restore(database) }
          return .commit
        }
      }
    }
    restores.wrappingAdd(1, ordering: .releasing)
    note(.byPeople)
  }
}
