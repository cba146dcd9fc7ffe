import GRDB
import Glibc
import Synchronization
public import WallTime

/// One SQLite file for what all systems keep, with its snapshots beside it.
///
/// What `open` gives is sound: see `Opening`. A write that has returned is on the disk (WAL, `synchronous = FULL`). All functions
/// block, on the disk and on each other: for any thread of the service, never for a loop. Reads do not wait for writes.
public final class StoreFile: Sendable {
  /// Path of the SQLite file. Its snapshots are in the folder of that name with `.snapshots` behind it.
  public let path: String
  let schema: StoreSchema
  let shelf: SnapshotShelf
  let mounts: MountWatch
  /// Held while a snapshot is made.
  let snapshotting = Mutex<WallInstant?>(nil)
  let unsaved = Mutex(Unsaved.byPeople)
  /// How many backups have been looked at: each has a file of its own.
  let checks = Atomic(0)
  let restores = Atomic(0)
  let state: Mutex<State>

  struct State {
    /// `nil` while it is not open.
    var connection: Connection?
    /// Opening has come to its end: before that no other thread reads or writes.
    var isReady = false
    /// Why it is not open, or why the last write came to nothing, or `nil` if it takes writes.
    var failure: StoreError?
    /// What the disk lacks, by the last look at it, whether or not anything was written since.
    var lack: StoreError?
    /// Of the file that was open until it was gone: no other one takes its place while this process lives.
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

  /// Backups that were restored since it was opened: a copy in memory is read again after each.
  public var restoreCount: Int { restores.load(ordering: .acquiring) }

  /// What has changed since the last snapshot.
  public enum Unsaved: Int, Sendable {
    /// Nothing that a snapshot must be made for.
    case nothing
    /// Only what the machine writes of itself: a snapshot is due `SnapshotPolicy.routineSeconds` after the last one.
    case byMachine
    /// Something that a person has changed: a snapshot is due `SnapshotPolicy.seconds` after the last one.
    case byPeople
  }

  /// A store that is not open yet: reads and writes throw until `open` has succeeded.
  ///
  /// - Parameters:
  ///   - path: The file; its folder is made with mode 0700, itself with 0600.
  ///   - mounts: What must be mounted for it.
  ///
  /// - Parameter systems: what is kept in it, in the order in which their tables came.
  public convenience init(
    _ path: String, systems: [StoreSystem], policy: SnapshotPolicy = SnapshotPolicy(), mounts: MountWatch
  ) {
    self.init(path, schema: StoreSchema(systems: systems), policy: policy, mounts: mounts)
  }

  init(_ path: String, schema: StoreSchema, policy: SnapshotPolicy, mounts: MountWatch) {
    (self.path, self.schema, self.mounts) = (path, schema, mounts)
    shelf = SnapshotShelf(of: path, policy: policy)
    state = Mutex(State(failure: .failed(file: path, doing: "opening", reason: "it has not been opened yet")))
  }

  /// Opens a store: see `open(at:)`.
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

  /// What was wrong with it has been told once.
  func emptyLog() throws(StoreError) {
    let pool = try openedPool
    try SQLite.translating(path, "emptying its write-ahead log") {
      _ = try pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
    }
  }

  /// Makes what is missing, after a snapshot of how it was.
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

  /// Reads one consistent state, whatever is written meanwhile.
  public func read<Result>(_ doing: String, _ body: (Database) throws -> Result) throws(StoreError) -> Result {
    let pool = try pool
    return try SQLite.translating(path, doing) { try pool.read(body) }
  }

  /// All of it or nothing; on the disk when it returns.
  public func write<Result>(
    _ doing: String, by who: Unsaved, _ body: (Database) throws -> Result
  ) throws(StoreError) -> Result {
    let pool = try pool
    do throws(StoreError) {
      let result = try SQLite.translating(path, doing) { try pool.write(body) }
      note(who)
      state.withLock { if $0.connection?.pool === pool { $0.failure = nil } }
      return result
    } catch {
      state.withLock { if $0.connection?.pool === pool { $0.failure = error } }
      throw error
    }
  }

  func note(_ who: Unsaved) {
    unsaved.withLock { if who.rawValue > $0.rawValue { $0 = who } }
  }

  /// Folds the write-ahead log into the file. Nothing may be asked of the store afterwards; another process can open it.
  public func close() throws(StoreError) {
    let pool = try pool
    try SQLite.translating(path, "closing") {
      try pool.close()
      // The pool closes its writer before its readers, so that the log is not folded in.
      let queue = try DatabaseQueue(path: path, configuration: SQLite.configuration)
      try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
      try queue.close()
    }
    state.withLock { $0 = State() }
  }
}
