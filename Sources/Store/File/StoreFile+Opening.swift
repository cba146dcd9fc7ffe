import GRDB
import Glibc
public import WallTime

// Opening the store, and watching its disk afterwards.
extension StoreFile {
  /// Creates a folder and all its parents in the same way as the store's folders. An existing folder is left as it is.
  package static func makeFolders(_ path: String) throws(StoreError) { try Disk.makeFolders(path) }

  /// Opens the store, with all steps that this requires; see `StoreReport`. The whole file is read; the README has times. The
  /// function must not be called by two threads at the same time.
  ///
  /// - Parameter at: the time of day, for the names of files.
  /// - Throws: `StoreError.newer`, `.foreign`, `.inUse`, `.notMounted`, and errors that prevent all writing there. `.damaged` and
  ///   `.replaced` are thrown only for a file that was open before in this process. Opening may be tried again.
  public func open(at now: WallInstant) throws(StoreError) -> StoreReport {
    do throws(StoreError) {
      let lost = state.withLock { $0.lost }
      let (connection, found) = try connect(after: lost, at: now)
      state.withLock { $0.connection = connection }
      let report = try finishOpening(found, at: now)
      state.withLock { $0 = State(connection: connection, isReady: true) }
      return report
    } catch {
      let unfinished = state.withLock { state in
        defer { (state.connection, state.failure) = (nil, error) }
        return state.connection
      }
      try? unfinished?.pool.close()
      throw error
    }
  }

  private func connect(
    after lost: Lost?, at now: WallInstant
  ) throws(StoreError) -> (Connection, StoreReport) {
    try mounts.check(path)
    // A folder that was there a moment ago is not made anew: its disk is gone, and with it what this process knows to be kept.
    if lost == nil {
      try Disk.makeFolders(Disk.folder(of: path))
      try Disk.makeFolders(shelf.folder)
    } else if try Disk.size(path) == nil {
      throw .gone(file: path)
    }
    let lock = try FileLock(of: path)
    var report = StoreReport(file: path, origin: .found)
    var isRecovered = false
    if let lost {
      guard lock.mark == lost.mark else { throw .replaced(file: path) }
      if case .sound = try Inspection.verdict(on: path, schema: schema) {} else { throw .replaced(file: path) }
      isRecovered = lost.isRecovered
    } else {
      try shelf.removeLeftovers()
      try replacedShelf.removeLeftovers()
      var opening = Opening(path: path, schema: schema, shelf: shelf, now: now)
      try opening.run()
      (report, isRecovered) = (opening.report, opening.report.isLoss)
    }
    try Disk.check(chmod(path, 0o600), path, "setting its mode to 0600")
    let mark = (0..<16).map { _ in UInt8.random(in: 0...255) }
    try lock.write(mark: mark, path)
    let last = try shelf.snapshots().last?.made
    snapshotting.withLock { $0 = last }
    let connection = Connection(
      pool: try SQLite.pool(path), lock: lock, identity: Disk.Identity(path), mark: mark, isRecovered: isRecovered)
    return (connection, report)
  }

  private func finishOpening(_ found: StoreReport, at now: WallInstant) throws(StoreError) -> StoreReport {
    var report = found
    if report.logFlaw != nil { try emptyLog() }
    report.migrated = try migrate(at: now)
    report.warning = mounts.remember(path)
    return report
  }

  // MARK: the state of the store

  /// Whether `open` has succeeded and the file has been neither closed nor lost since. Reading this waits for no disk.
  public var isOpen: Bool { state.withLock { $0.isReady } }

  /// Whether the store is an earlier state, so that the last changes are lost. See `StoreReport`.
  public var isRecovered: Bool { state.withLock { $0.connection?.isRecovered ?? false } }

  /// The reason why writes fail, or will fail soon, or `nil` if the store accepts writes. Reading this waits for no disk.
  public var trouble: StoreError? { state.withLock { $0.failure ?? $0.lack } }

  /// The connections of the open store.
  ///
  /// - Throws: the reason why the store is not open.
  var pool: DatabasePool {
    get throws(StoreError) { try pool { $0.isReady } }
  }

  /// The connections, also while the store is still being opened.
  var openedPool: DatabasePool {
    get throws(StoreError) { try pool { _ in true } }
  }

  private func pool(_ isUsable: (State) -> Bool) throws(StoreError) -> DatabasePool {
    let (connection, failure) = state.withLock { (isUsable($0) ? $0.connection : nil, $0.failure) }
    guard let connection else { throw failure ?? .failed(file: path, doing: "using it", reason: "it is not open") }
    return connection.pool
  }

  /// Checks that the store is open.
  ///
  /// - Throws: the reason why the store is not open.
  public func requireOpen() throws(StoreError) { _ = try pool }

  /// Checks the disk of an open store. The function is to be called every few seconds. A disk that fills up, becomes read-only or disappears is
  /// noticed even if nothing is written, and so is its recovery.
  public func checkDisk() {
    guard let connection = state.withLock({ $0.isReady ? $0.connection : nil }) else { return }
    if connection.identity != Disk.Identity(path) { return leave(connection) }
    let lack = Disk.lacks(Disk.folder(of: path), for: path, "looking at it")
    state.withLock { $0.lack = lack }
    // Only a successful write shows that writes work again.
    guard state.withLock({ $0.failure != nil }) else { return }
    _ = try? write("trying to write", by: .nothing) { database in
      let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
      try database.execute(sql: "PRAGMA user_version = \(version)")
    }
  }

  /// Stops using a file that is no longer at its path, since anything written to it would be lost.
  private func leave(_ connection: Connection) {
    state.withLock { state in
      state = State(
        failure: .gone(file: path), lost: Lost(mark: connection.mark, isRecovered: connection.isRecovered))
    }
    try? connection.pool.close()
  }
}
