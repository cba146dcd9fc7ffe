import GRDB
import Glibc
public import Sprinkler
import Synchronization

/// One SQLite file for what all systems keep, with its snapshots beside it.
///
/// What `open` gives is sound: see `Opening`. A write that has returned is on the disk (WAL, `synchronous = FULL`). All functions
/// block, on the disk and on each other: for any thread of the service, never for a loop. Reads do not wait for writes.
public final class StoreFile: Sendable {
  public let path: String
  /// It is an earlier state: what was kept last is lost. See `StoreReport`.
  public let isRecovered: Bool
  let schema: StoreSchema
  let shelf: SnapshotShelf
  let pool: DatabasePool
  /// Held while a snapshot is made.
  let snapshotting: Mutex<WallInstant?>
  let unsaved = Mutex(Unsaved.byPeople)
  /// How many backups have been looked at: each has a file of its own.
  let checks = Atomic(0)
  private let lock: Mutex<FileLock?>
  let restores = Atomic(0)

  /// Backups that were restored since it was opened: whoever keeps a copy in memory reads it again after each.
  public var restoreCount: Int { restores.load(ordering: .acquiring) }

  /// What has changed since the last snapshot.
  enum Unsaved: Int {
    case nothing
    case byMachine
    case byPeople
  }

  /// Opens the store, with all that this may take: see `StoreReport`. Reads all of it: the README has times.
  ///
  /// - Parameters:
  ///   - path: The file; its folder is made with mode 0700, itself with 0600.
  ///   - at: The time of day, for names of files.
  /// - Throws: `StoreError.newer`, `.foreign`, `.inUse`, and what keeps anybody from writing there. Never `.damaged`.
  public static func open(
    _ path: String, policy: SnapshotPolicy = SnapshotPolicy(), at now: WallInstant
  ) throws(StoreError) -> (file: StoreFile, report: StoreReport) {
    try open(path, schema: .current, policy: policy, at: now)
  }

  static func open(
    _ path: String, schema: StoreSchema, policy: SnapshotPolicy = SnapshotPolicy(), at now: WallInstant
  ) throws(StoreError) -> (file: StoreFile, report: StoreReport) {
    let shelf = SnapshotShelf(of: path, policy: policy)
    try Disk.makeFolders(Disk.folder(of: path))
    try Disk.makeFolders(shelf.folder)
    let lock = try FileLock(of: path)
    try shelf.removeLeftovers()
    var opening = Opening(path: path, schema: schema, shelf: shelf, now: now)
    try opening.run()
    try Disk.check(chmod(path, 0o600), path, "setting its mode to 0600")
    let file = try StoreFile(path, schema, shelf, lock, isRecovered: opening.report.isLoss)
    if opening.report.logFlaw != nil { try file.emptyLog() }
    var report = opening.report
    report.migrated = try file.migrate(at: now)
    return (file, report)
  }

  private init(
    _ path: String, _ schema: StoreSchema, _ shelf: SnapshotShelf, _ lock: FileLock, isRecovered: Bool
  ) throws(StoreError) {
    self.path = path
    self.isRecovered = isRecovered
    self.schema = schema
    self.shelf = shelf
    self.lock = Mutex(lock)
    snapshotting = Mutex(try shelf.snapshots().last?.made)
    pool = try SQLite.translating(path, "opening") {
      let pool = try DatabasePool(path: path, configuration: SQLite.configuration)
      // GRDB's set-up of the write-ahead log leaves NORMAL, with which a power cut undoes what was acknowledged.
      try pool.writeWithoutTransaction { database in
        try database.execute(sql: "PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 4194304")
        guard try Int.fetchOne(database, sql: "PRAGMA synchronous") == 2 else {
          throw StoreError.failed(file: path, doing: "opening", reason: "SQLite does not sync every write")
        }
      }
      return pool
    }
  }

  /// What was wrong with it has been told once.
  private func emptyLog() throws(StoreError) {
    try SQLite.translating(path, "emptying its write-ahead log") {
      _ = try pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
    }
  }

  /// Makes what is missing, after a snapshot of how it was.
  private func migrate(at now: WallInstant) throws(StoreError) -> [String] {
    let applied = try read("reading its version") { try schema.migrator().appliedIdentifiers($0) }
    let missing = schema.names.filter { !applied.contains($0) }
    guard !missing.isEmpty else { return [] }
    try snapshot(at: now)
    try SQLite.translating(path, "bringing it up to date") { try schema.migrator().migrate(pool) }
    return missing
  }

  /// Reads one consistent state, whatever is written meanwhile.
  func read<Result>(_ doing: String, _ body: (Database) throws -> Result) throws(StoreError) -> Result {
    try SQLite.translating(path, doing) { try pool.read(body) }
  }

  /// All of it or nothing; on the disk when it returns.
  func write<Result>(
    _ doing: String, by who: Unsaved, _ body: (Database) throws -> Result
  ) throws(StoreError) -> Result {
    let result = try SQLite.translating(path, doing) { try pool.write(body) }
    note(who)
    return result
  }

  func note(_ who: Unsaved) {
    unsaved.withLock { if who.rawValue > $0.rawValue { $0 = who } }
  }

  /// Folds the write-ahead log into the file. Nothing may be asked of the store afterwards; another process can open it.
  public func close() throws(StoreError) {
    try SQLite.translating(path, "closing") {
      try pool.close()
      // The pool closes its writer before its readers, so that nobody folds the log in.
      let queue = try DatabaseQueue(path: path, configuration: SQLite.configuration)
      try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
      try queue.close()
    }
    lock.withLock { $0 = nil }
  }
}
