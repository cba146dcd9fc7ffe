/// Everything that survives the process, as one value: what a store gives at the start, and what a backup holds.
public struct SprinklerRecords: Sendable, Hashable, Codable {
  /// In the order in which people want to see them.
  public var zones: [Zone] = []
  /// In their order.
  public var programs: [Program] = []
  public var levels = SprinklerLevels()
  public var rainDelay: RainDelay?
  /// Of the last days, as many as the catch-up window needs.
  public var startKeys: [StartKey] = []
  /// Queued or open when it was written.
  public var pending: [PendingRun] = []
  /// Runs ever made: the next one's number.
  public var nextRun: UInt64 = 1
  /// Programs ever made: the next one's number.
  public var nextProgram = 1
  /// Seconds that each zone has run on `day`, by zone.
  public var ranToday: [ZoneID: Double] = [:]
  public var day: LocalDate?

  public init() {}
}

/// One change of the records. A store makes a list of them in one transaction: all of it or nothing.
public enum SprinklerChange: Sendable, Hashable {
  case zones([Zone])
  /// New or changed.
  case program(Program)
  case programRemoved(id: Int)
  /// The programs' ids in their new order.
  case programOrder([Int])
  case levels(SprinklerLevels)
  case rainDelay(RainDelay?)
  case started(StartKey)
  case startKeysForgotten(before: LocalDate)
  /// New or changed.
  case pending(PendingRun)
  case pendingRemoved(run: UInt64)
  case log(WateringRecord)
  case ran(ZoneID, seconds: Double, day: LocalDate)
  /// The next numbers to give.
  case counters(nextRun: UInt64, nextProgram: Int)
  /// Everything at once, for a restored backup. The log stays.
  case everything(SprinklerRecords)
}
