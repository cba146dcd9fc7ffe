/// How often copies are made of a store and how many are kept.
public struct SnapshotPolicy: Sendable, Hashable {
  /// After a change that a person made, not more often than that, s.
  public var seconds: Int
  /// After changes that the machine made of itself (log, queue, start keys), not more often than that, s. A copy is as large
  /// as the store, and memory cards wear out.
  public var routineSeconds: Int
  /// So many of the last ones are kept; at least 1.
  public var recent: Int
  /// Besides, the last one of each of so many days (UTC) on which there are any.
  public var days: Int

  /// A negative number traps, and so does a `recent` of 0. `days` of 0 keeps only the recent ones.
  public init(seconds: Int = 60, routineSeconds: Int = 21_600, recent: Int = 8, days: Int = 14) {
    precondition(seconds >= 0 && routineSeconds >= 0 && recent >= 1 && days >= 0, "intervals and counts")
    self.seconds = seconds
    self.routineSeconds = routineSeconds
    self.recent = recent
    self.days = days
  }
}
