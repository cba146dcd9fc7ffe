/// How old the data was that a loop acted on, since its runtime started, as it was at one instant.
public struct AgeStatistics: Sendable {
  /// The name that the age was declared with.
  public let name: String
  /// The loops that the data passes, the one that measures first and the one that uses it last.
  public let path: [String]
  /// How the data comes to the first of them, or `nil` if that one measures it.
  public let arrival: DataAge.Arrival?
  /// At the end of each tick that used measured data: how old its oldest measurement was.
  public let age: HistogramSnapshot
  /// The age at the last use; `nil` before the first.
  public let last: Nanoseconds?
  /// When the oldest measurement was taken that the last use had; `nil` before the first.
  public let sampledAt: TickInstant?
  /// How old that measurement is by now, at the statistics' instant: grows while nothing is used, so that a loop that has
  /// stopped is not taken for one that is up to date. `nil` before the first use.
  public let now: Nanoseconds?
  /// Ticks that used data which had never been measured: what stood in the mailbox at the start. They have no age.
  public let unsampled: Int64
  /// What the planner says that no age exceeds, see `Planner.longestAge(along:)`, or `nil` if a loop on the path has no bound
  /// for its response, an execution time is neither declared nor measured yet, or the arrival is `unknown`. A larger age means that a tick took
  /// longer than it may, that the kernel ran a lane late, or that a rate has just been changed.
  public internal(set) var bound: Nanoseconds?
  /// Whether the bound rests on execution times that were measured, not declared: it then grows with them.
  public internal(set) var isBoundMeasured = false

  init(_ age: DataAge, usedBy loop: String, at instant: TickInstant) {
    let (account, ages) = age.record.pointee.snapshot()
    name = age.name
    path = age.path + [loop]
    arrival = age.arrival
    self.age = ages
    unsampled = account.unsampled
    if account.uses > 0 {
      last = Nanoseconds(account.last)
      sampledAt = TickInstant(nanoseconds: account.sampledAt)
      // A use that is newer than `instant` says so itself.
      now = max(instant - TickInstant(nanoseconds: account.sampledAt), Nanoseconds(account.last))
    } else {
      (last, sampledAt, now) = (nil, nil, nil)
    }
  }
}
