import Tactus

/// The sprinkler's schedule and its book-keeping: when programs start, what people ask, what is noted.
///
/// Decides and does nothing else: it reads no clock and touches neither store nor valves. Every event goes in by `step`, and
/// what comes of it is returned. It allocates; it is not for ticks.
public struct SprinklerScheduler: Sendable {
  public internal(set) var records: SprinklerRecords
  public let settings: SchedulerSettings

  public init(_ records: SprinklerRecords, settings: SchedulerSettings) {
    self.records = records
    self.settings = settings
  }

  /// One event at one instant.
  ///
  /// - Parameters:
  ///   - wall: the time of day; it may jump.
  ///   - monotonic: never decreases.
  public mutating func step(_ event: SprinklerEvent, wall: WallInstant, monotonic: TickInstant) -> SprinklerEffects {
    fatalError("in the making")
  }

  /// When `timePassed` will next have something to do, if the clock is not set and nothing else happens; nil: never.
  public var nextDeadline: WallInstant? { nil }

  /// The next starts of the enabled programs after an instant, at most so many.
  public func preview(after instant: WallInstant, count: Int) -> SprinklerPreview { fatalError("in the making") }

  /// What a zone has run on the local day of that instant, s.
  public func ranToday(_ zone: ZoneID, at instant: WallInstant) -> Double { fatalError("in the making") }

  /// The rain delay if it is in force at that instant.
  public func rainDelay(at instant: WallInstant) -> RainDelay? { fatalError("in the making") }
}
