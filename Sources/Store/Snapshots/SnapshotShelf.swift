import WallTime

/// A folder of copies of the store, and its contents: `STORE.snapshots`, or `STORE.replaced` for what restores have replaced.
struct SnapshotShelf: Sendable {
  let folder: String
  let policy: SnapshotPolicy

  init(_ folder: String, policy: SnapshotPolicy) { (self.folder, self.policy) = (folder, policy) }

  /// Returns all snapshots, the oldest first.
  func snapshots() throws(StoreError) -> [Snapshot] {
    try Disk.names(in: folder).compactMap { Snapshot(folder: folder, name: $0) }.sorted { $0.number < $1.number }
  }

  /// The path at which a new snapshot is written before it gets its name.
  var unfinished: String { folder + "/unfinished" }

  /// The beginning of the paths of backups that are being checked.
  var restored: String { folder + "/restored" }

  /// Removes unfinished files of a process that was killed.
  func removeLeftovers() throws(StoreError) {
    for name in try Disk.names(in: folder) where name.hasPrefix("unfinished") || name.hasPrefix("restored") {
      try Disk.remove("\(folder)/\(name)")
    }
  }

  /// Gives the unfinished snapshot its name, then removes the snapshots that the policy does not keep.
  func finish(at now: WallInstant) throws(StoreError) -> Snapshot {
    let snapshot = try name(unfinished, at: now)
    try prune()
    return snapshot
  }

  /// Gives a complete copy in the folder the name of the next snapshot.
  func name(_ copy: String, at now: WallInstant) throws(StoreError) -> Snapshot {
    let name = Snapshot.name((try snapshots().last?.number ?? 0) + 1, now)
    guard let snapshot = Snapshot(folder: folder, name: name) else {
      throw .failed(file: folder, doing: "naming a snapshot", reason: "\(name) is not a name")
    }
    try Disk.putInPlace(copy, as: snapshot.path)
    return snapshot
  }

  /// Removes the snapshots that the policy does not keep.
  func prune() throws(StoreError) {
    let kept = Self.kept(try snapshots(), policy)
    for old in try snapshots() where !kept.contains(old.number) { try Disk.remove(old.path) }
  }

  /// Returns the numbers of the snapshots to keep: the newest ones, and the last one of each of the last days that have any.
  static func kept(_ snapshots: [Snapshot], _ policy: SnapshotPolicy) -> Set<Int> {
    var kept = Set(snapshots.suffix(policy.recent).map(\.number))
    var days: Set<Int64> = []
    for snapshot in snapshots.reversed() where days.count < policy.days {
      if days.insert(snapshot.made.secondsSince1970 / 86_400).inserted { kept.insert(snapshot.number) }
    }
    return kept
  }
}
