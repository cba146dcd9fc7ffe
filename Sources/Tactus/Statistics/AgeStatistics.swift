/// The ages of the data that a loop has acted on since its runtime started, as read at one instant.
public struct AgeStatistics: Sendable {
  /// The name that the age was declared with.
  public let name: String
  /// The names of the loops that the data passes, from the loop that measures to the loop that uses the data last.
  public let path: [String]
  /// The way in which the data comes to the first loop of the path, or `nil` if that loop measures it.
  public let arrival: DataAge.Arrival?
  /// The age of the oldest measurement used, recorded at the end of each tick that used measured data.
  public let age: HistogramSnapshot
  /// The age at the last use, or `nil` before the first use.
  public let last: Nanoseconds?
  /// The instant of the oldest measurement in the last use, or `nil` before the first use.
  public let sampledAt: TickInstant?
  /// The present age of that measurement, at the statistics' instant, or `nil` before the first use. The age grows while no data is
  /// used, so that a loop that has stopped is not taken for one that is up to date.
  public let now: Nanoseconds?
  /// The number of ticks that used data without a measurement, which a mailbox holds before the first one. They have no age.
  public let unsampled: Int64
  /// The bound that the planner computes for the ages, see `Planner.longestAge(along:)`, or `nil` if a loop on the path has no
  /// bound for its response time, an execution time is neither declared nor measured yet, or the arrival is `unknown`. A greater
  /// age means that a tick exceeded its execution time, that the kernel ran a lane late, or that a rate has just been changed.
  public internal(set) var bound: Nanoseconds?
  /// Whether the bound is based on measured instead of declared execution times, and therefore grows with them.
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
      // A use after `instant` has an age of its own, which is a lower bound.
      now = max(instant - TickInstant(nanoseconds: account.sampledAt), Nanoseconds(account.last))
    } else {
      (last, sampledAt, now) = (nil, nil, nil)
    }
  }
}
