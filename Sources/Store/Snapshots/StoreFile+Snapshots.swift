@_spi(FromOutside) import Conversions
import GRDB
public import WallTime

extension StoreFile {
  /// Returns all snapshots, the oldest first.
  public func snapshots() throws(StoreError) -> [Snapshot] { try shelf.snapshots() }

  /// Makes a snapshot if there are changes since the last one and the policy's time has passed. The function must be called every few seconds.
  ///
  /// - Parameter isLast: whether the file is about to be closed; changes by people are then copied whatever the policy says.
  /// - Returns: the snapshot, or `nil` if none was due.
  public func snapshotIfDue(at now: WallInstant, isLast: Bool = false) throws(StoreError) -> Snapshot? {
    let wait: Int64
    switch unsaved.withLock({ $0 }) {
    case .nothing: return nil
    case .byMachine: wait = Int64(shelf.policy.routineSeconds)
    case .byPeople: wait = isLast ? 0 : Int64(shelf.policy.seconds)
    }
    // A clock that was set back is no reason to wait.
    if let last = snapshotting.withLock({ $0 }), now >= last, now - last < wait { return nil }
    return try snapshot(at: now)
  }

  /// Makes a snapshot now. Writes continue meanwhile. If it fails, the existing snapshots stay.
  ///
  /// Takes longer than opening: the copy is checked like a file that is opened, since older snapshots are removed in its favour.
  @discardableResult
  public func snapshot(at now: WallInstant) throws(StoreError) -> Snapshot {
    try snapshotting.withLock { last throws(StoreError) in
      let before = unsaved.withLock { unsaved in
        defer { unsaved = .nothing }
        return unsaved
      }
      do throws(StoreError) {
        try writeCopy(to: shelf.unfinished)
        let snapshot = try shelf.finish(at: now)
        last = now
        return snapshot
      } catch {
        note(before)
        throw error
      }
    }
  }

  /// Writes a checked copy, complete and synced, overwriting an existing file.
  ///
  /// - Parameter parts: the parts whose tables the copy has, or `nil` for all.
  func writeCopy(to copy: String, parts: Set<String>? = nil) throws(StoreError) {
    let pool = try openedPool
    try Disk.remove(copy)
    try Disk.create(copy)
    do throws(StoreError) {
      try SQLite.translating(copy, "copying \(path)") {
        try pool.unsafeRead { try $0.execute(sql: "VACUUM INTO ?", arguments: [copy]) }
      }
      if let parts { try keep(only: parts, in: copy) }
      guard case .sound = try Inspection.verdict(on: copy, schema: schema) else {
        throw .damaged(file: path, reason: "a copy of it is not sound")
      }
      try Disk.sync(copy)
    } catch {
      try? Disk.remove(copy)
      throw error
    }
  }
}
