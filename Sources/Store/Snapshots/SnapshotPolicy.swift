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
