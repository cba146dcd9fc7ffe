import GRDB
import Glibc
import Synchronization
public import WallTime

/// One SQLite file for the data of all systems, with its snapshots beside it.
///
/// A store that `open` returns is intact: see `Opening`. A write that has returned is on the disk (WAL, `synchronous = FULL`). All
/// functions block, for the disk and for each other, so they may be called by any thread of the service but never by a loop. Reads
/// do not wait for writes.
public final class StoreFile: Sendable {
  /// The path of the SQLite file. Its snapshots are in the folder with the same name and `.snapshots` appended, what
  /// restores have replaced in that with `.replaced`.
  public let path: String
  let schema: StoreSchema
  let shelf: SnapshotShelf
  /// The copies of the contents that restores have replaced.
  let replacedShelf: SnapshotShelf
  let mounts: MountWatch
  /// A lock that is held while a snapshot is made, with the instant of the last snapshot.
  let snapshotting = Mutex<WallInstant?>(nil)
  let unsaved = Mutex(Unsaved.byPeople)
  /// The number of backups that have been checked. Each is checked in a separate file.
  let checks = Atomic(0)
  let restores = Atomic(0)
  let state: Mutex<State>

  struct State {
    /// The connection, or `nil` while the store is not open.
    var connection: Connection?
    /// Whether opening is complete. Before that no other thread reads or writes.
    var isReady = false
    /// The reason why the store is not open, or the reason why the last write failed, or `nil` if the store accepts writes.
    var failure: StoreError?
    /// The reason why the disk accepts no writes, as of the last check, whether or not anything was written since; `nil` if it accepts them.
    var lack: StoreError?
    /// The identification of a file that disappeared while it was open, or `nil` if none did. No other file replaces it in this process.
    var lost: Lost?
  }

  struct Connection {
    let pool: DatabasePool
    let lock: FileLock
    let identity: Disk.Identity?
    let mark: [UInt8]
    let isRecovered: Bool
  }

  struct Lost {
    let mark: [UInt8]
    let isRecovered: Bool
  }

  /// The number of backups that have been restored since the store was opened. Copies in memory are read again after each.
  public var restoreCount: Int { restores.load(ordering: .acquiring) }

  /// The changes since the last snapshot.
  public enum Unsaved: Int, Sendable {
    /// Nothing has changed for which a snapshot must be made.
    case nothing
    /// Only data that the machine writes by itself has changed: a snapshot is due `SnapshotPolicy.routineSeconds` after the last one.
    case byMachine
    /// A person has changed data: a snapshot is due `SnapshotPolicy.seconds` after the last one.
    case byPeople
  }

  /// Creates a store that is not open yet: reads and writes throw until `open` has succeeded.
  ///
  /// - Parameters:
  ///   - path: the path of the file. Its folder is created with mode 0700, the file with 0600.
  ///   - systems: the systems whose data the store keeps, in the order in which their tables were added.
  ///   - mounts: the watch for the mount of the store.
  public convenience init(
    _ path: String, systems: [StoreSystem], policy: SnapshotPolicy = SnapshotPolicy(), mounts: MountWatch
  ) {
    self.init(path, schema: StoreSchema(systems: systems), policy: policy, mounts: mounts)
  }

  init(_ path: String, schema: StoreSchema, policy: SnapshotPolicy, mounts: MountWatch) {
    (self.path, self.schema, self.mounts) = (path, schema, mounts)
    shelf = SnapshotShelf(path + ".snapshots", policy: policy)
    replacedShelf = SnapshotShelf(path + ".replaced", policy: SnapshotPolicy(recent: 5, days: 0))
    state = Mutex(State(failure: .failed(file: path, doing: "opening", reason: "it has not been opened yet")))
  }

  /// Creates and opens a store; see `open(at:)`.
  public static func open(
    _ path: String, systems: [StoreSystem], policy: SnapshotPolicy = SnapshotPolicy(), at now: WallInstant
  ) throws(StoreError) -> (file: StoreFile, report: StoreReport) {
    try open(path, schema: StoreSchema(systems: systems), policy: policy, at: now)
  }

  static func open(
    _ path: String, schema: StoreSchema, policy: SnapshotPolicy = SnapshotPolicy(), at now: WallInstant
  ) throws(StoreError) -> (file: StoreFile, report: StoreReport) {
    let file = StoreFile(path, schema: schema, policy: policy, mounts: .none)
    return (file, try file.open(at: now))
  }

  /// Empties the write-ahead log, whose damage has been reported once.
  func emptyLog() throws(StoreError) {
    let pool = try openedPool
    try SQLite.translating(path, "emptying its write-ahead log") {
      _ = try pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
    }
  }

  /// Applies missing migrations after a snapshot of the present state. Returns their names.
  func migrate(at now: WallInstant) throws(StoreError) -> [String] {
    let pool = try openedPool
    let applied = try SQLite.translating(path, "reading its version") {
      try pool.read { try schema.migrator().appliedIdentifiers($0) }
    }
    let missing = schema.names.filter { !applied.contains($0) }
    guard !missing.isEmpty else { return [] }
    try snapshot(at: now)
    try SQLite.translating(path, "bringing it up to date") { try schema.migrator().migrate(pool) }
    return missing
  }

  /// Reads one consistent state, regardless of concurrent writes.
  public func read<Result>(_ doing: String, _ body: (Database) throws -> Result) throws(StoreError) -> Result {
    let pool = try pool
    return try SQLite.translating(path, doing) { try pool.read(body) }
  }

  /// Writes in one transaction, either completely or not at all. The change is on the disk when this returns.
  ///
  /// - Parameter restores: `restoreCount` before the data was read on which the change is based, or `nil` if it is based on none.
  /// - Throws: `StoreError.restored` if a backup has been restored since then, which the change would undo.
  public func write<Result>(
    _ doing: String, by who: Unsaved, after restores: Int? = nil, _ body: (Database) throws -> Result
  ) throws(StoreError) -> Result {
    let pool = try pool
    do throws(StoreError) {
      let result = try SQLite.translating(path, doing) {
        try pool.write { database in
          // Restores are counted by the writer, so none can come between this line and the end of the transaction.
          if let restores, restores != restoreCount { throw StoreError.restored(file: path, doing: doing) }
          return try body(database)
        }
      }
      note(who)
      state.withLock { if $0.connection?.pool === pool { $0.failure = nil } }
      return result
    } catch {
      if case .restored = error { throw error }
      state.withLock { if $0.connection?.pool === pool { $0.failure = error } }
      throw error
    }
  }

  func note(_ who: Unsaved) {
    unsaved.withLock { if who.rawValue > $0.rawValue { $0 = who } }
  }

  /// Merges the write-ahead log into the file and closes it. The store must not be used afterwards; another process can open it.
  public func close() throws(StoreError) {
    let pool = try pool
    try SQLite.translating(path, "closing") {
      try pool.close()
      // The pool closes its writer before its readers, so the write-ahead log is merged by another connection.
      let queue = try DatabaseQueue(path: path, configuration: SQLite.configuration)
      try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
      try queue.close()
    }
    state.withLock { $0 = State() }
  }
}
