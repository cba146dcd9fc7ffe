@_spi(FromOutside) import Conversions
public import WallTime

/// A copy of the store at an instant, in a separate SQLite file.
public struct Snapshot: Sendable, Hashable {
  /// The path of the file, in the folder `STORE.snapshots`.
  public let path: String
  /// The number of the snapshot, from 1. Later snapshots have higher numbers, whatever the clock said.
  public let number: Int
  /// The instant at which the snapshot was made by the wall clock, to the second.
  public let made: WallInstant

  /// Returns the name of a snapshot's file, such as `000042-20260203T040506Z.sqlite`.
  static func name(_ number: Int, _ made: WallInstant) -> String {
    let digits = String(number)
    return "\(String(repeating: "0", count: max(0, 6 - digits.count)))\(digits)-\(made.nameText).sqlite"
  }

  /// Parses the name of a file. The result is `nil` if it is not that of a snapshot.
  init?(folder: String, name: String) {
    let parts = name.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1].hasSuffix(".sqlite"), let number = Int(parts[0]), number > 0,
      let made = WallInstant(nameText: parts[1].dropLast(".sqlite".count)), name == Self.name(number, made)
    else { return nil }
    path = "\(folder)/\(name)"
    self.number = number
    self.made = made
  }
}

/// The policy of how often snapshots of a store are made, and how many are kept.
public struct SnapshotPolicy: Sendable, Hashable {
  /// The shortest time in seconds between snapshots after changes by people.
  public var seconds: Int
  /// The shortest time in seconds between snapshots after changes that the machine makes by itself (log, queue, start keys). A
  /// snapshot is as large as the store, and memory cards wear out.
  public var routineSeconds: Int
  /// The number of newest snapshots that are kept, at least 1.
  public var recent: Int
  /// The number of days (UTC) for each of which the last snapshot is kept in addition. Days without a snapshot do not count.
  public var days: Int

  /// Creates a policy. Negative numbers trap, and so does a `recent` of 0. With `days` of 0 only the recent snapshots are kept.
  public init(seconds: Int = 60, routineSeconds: Int = 21_600, recent: Int = 8, days: Int = 14) {
    precondition(seconds >= 0 && routineSeconds >= 0 && recent >= 1 && days >= 0, "intervals and counts")
    self.seconds = seconds
    self.routineSeconds = routineSeconds
    self.recent = recent
    self.days = days
  }
}

/// A folder of copies of the store, and its contents: `STORE.snapshots`, or `STORE.replaced` for the contents that restores have replaced.
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

  /// Returns the numbers of the snapshots to keep: the newest ones, and the last one of each of the last days that have a snapshot.
  static func kept(_ snapshots: [Snapshot], _ policy: SnapshotPolicy) -> Set<Int> {
    var kept = Set(snapshots.suffix(policy.recent).map(\.number))
    var days: Set<Int64> = []
    for snapshot in snapshots.reversed() where days.count < policy.days {
      if days.insert(snapshot.made.secondsSince1970 / 86_400).inserted { kept.insert(snapshot.number) }
    }
    return kept
  }
}
