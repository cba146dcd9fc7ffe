import WallTime

/// The rule by which the deficit of a zone is computed, and its effect on watering.
public struct DeficitRule: Sendable, Hashable {
  /// The rate of the zone's sprinklers, in mm/h; above 0.
  public var millimetresPerHour: Double
  /// The part of the reference evapotranspiration that the zone's plants use; above 0.
  public var cropFactor: Double
  /// The greatest deficit, in mm, which is the water that the soil can hold for the plants.
  public var greatestMillimetres: Double
  /// The deficit from which on the zone is watered, in mm.
  public var leastMillimetres: Double

  /// Creates a rule, not checked.
  public init(
    millimetresPerHour: Double, cropFactor: Double = 0.8, greatestMillimetres: Double = 25, leastMillimetres: Double = 5
  ) {
    self.millimetresPerHour = millimetresPerHour
    self.cropFactor = cropFactor
    self.greatestMillimetres = greatestMillimetres
    self.leastMillimetres = leastMillimetres
  }

  /// Returns the depth of water, in mm, that the zone receives in the given seconds.
  func millimetres(seconds: Double) -> Double { millimetresPerHour * seconds / 3_600 }
}

/// The water that a zone's soil lacks, reckoned over days: what its plants used, less rain and irrigation.
///
/// Each day counts once, in the order of dates. Days come from the weather provider and irrigation from the times that valves were open, so
/// neither depends on this computer's wall clock.
public struct ZoneDeficit: Sendable, Hashable, Codable {
  /// The zone whose deficit this is.
  public var zone: ZoneID
  /// The deficit, in mm; from 0 to the greatest of the zone's rule.
  public internal(set) var millimetres = 0.0
  /// The first day of the sums: the one after the deficit was last 0.
  public internal(set) var since: LocalDate
  /// The last day that has been counted.
  public internal(set) var through: LocalDate
  /// The water that the plants have used since the deficit was last 0, mm.
  public internal(set) var evaporated = 0.0
  /// The rain since the deficit was last 0, mm.
  public internal(set) var rained = 0.0
  /// The irrigation since the deficit was last 0, mm.
  public internal(set) var watered = 0.0
  /// The number of days since the deficit was last 0 whose weather is unknown.
  public internal(set) var unknownDays = 0

  /// Creates the deficit of a zone that lacks nothing at the end of a day.
  public init(zone: ZoneID, through: LocalDate) {
    self.zone = zone
    (since, self.through) = (through + 1, through)
  }

  /// Counts a day after `through`; the days between them are unknown.
  mutating func count(_ date: LocalDate, evaporated used: Double, rained rain: Double, _ rule: DeficitRule) {
    unknownDays += max(0, date.daysSince1970 - through.daysSince1970 - 1)
    through = date
    let balance = millimetres + used - rain
    guard balance > 0 else { return begin() }
    millimetres = min(balance, rule.greatestMillimetres)
    evaporated += used
    rained += rain
  }

  /// Subtracts irrigation, in mm, from the deficit.
  mutating func water(_ amount: Double) {
    millimetres -= amount
    watered += amount
    if millimetres <= 0 { begin() }
  }

  /// Begins the sums again with the day after the last one.
  private mutating func begin() {
    (millimetres, since, unknownDays) = (0, through + 1, 0)
    (evaporated, rained, watered) = (0, 0, 0)
  }
}
