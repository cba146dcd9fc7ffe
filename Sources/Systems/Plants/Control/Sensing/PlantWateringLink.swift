import Tactus

/// What a plant's link may ask of a sprinkler zone. There is none unless it is configured.
public struct PlantWateringSettings: Sendable, Hashable {
  /// 1…64.
  public let zone: Int
  /// 1…3,600 s.
  public let seconds: Int
  /// Requests in one local day, 1…24.
  public let maximumPerDay: Int
  /// Between two requests, 60 s ….
  public let minimumGapSeconds: Int64

  /// Throws, naming the field, unless each is in its range.
  public init(
    zone: Int, seconds: Int, maximumPerDay: Int = 2, minimumGapSeconds: Int64 = 6 * 3_600
  ) throws(PlantRefusal) {
    func check(_ field: String, _ value: Int64, _ range: ClosedRange<Int64>) throws(PlantRefusal) {
      guard !range.contains(value) else { return }
      throw PlantRefusal(
        .invalidPlantSettings, field: field, "expected \(range.lowerBound)…\(range.upperBound), got \(value)")
    }
    try check("zone", Int64(zone), 1...64)
    try check("seconds", Int64(seconds), 1...3_600)
    try check("maximumPerDay", Int64(maximumPerDay), 1...24)
    try check("minimumGapSeconds", minimumGapSeconds, 60...604_800)
    self.zone = zone
    self.seconds = seconds
    self.maximumPerDay = maximumPerDay
    self.minimumGapSeconds = minimumGapSeconds
  }
}

/// What a link asks for: the sprinkler's own rules still apply to it.
public struct PlantWateringRequest: Sendable, Hashable {
  public var plant: PlantID
  public var zone: Int
  public var seconds: Int

  public init(plant: PlantID, zone: Int, seconds: Int) {
    self.plant = plant
    self.zone = zone
    self.seconds = seconds
  }
}

/// Asks a sprinkler zone for water while a plant is dry, seldom enough that a broken sensor drowns nothing.
///
/// A request needs: the alert `dry`, and so a fresh reading; none of `silent` and `wet`; no `needsConfirmation`; no rain delay; the gap since the last
/// request, by a clock that cannot be set; and less than the day's number. No new day begins by a wall clock that is not confirmed, and
/// setting it does not shorten the gap, also across a restart (`KeptAge`).
public struct PlantWateringLink: Sendable, Hashable {
  public enum Hindrance: String, Sendable, Hashable, CaseIterable {
    case notDry, sensorSilent, rainDelay, tooSoon, enoughToday
    /// Its sensors, as they are calibrated now, have never read anything but dry, and a person has not confirmed them.
    case needsConfirmation
  }
  public enum Outcome: Sendable, Hashable {
    case request(PlantWateringRequest)
    case none(Hindrance)
  }

  public let plant: PlantID
  public private(set) var settings: PlantWateringSettings
  public private(set) var record: PlantWateringRecord?
  /// The last request of this process.
  private var requested: TickInstant?

  /// `record`: what the store has kept.
  public init(_ plant: PlantID, _ settings: PlantWateringSettings, record: PlantWateringRecord? = nil) {
    self.plant = plant
    self.settings = settings
    self.record = record
  }

  /// Takes other limits; what it has asked for counts against them.
  public mutating func take(_ new: PlantWateringSettings) { settings = new }

  /// - Parameters:
  ///   - day: days since 1970, by the controller's calendar.
  ///   - isRainDelayed: the sprinkler's.
  /// After a request `record` is to be stored.
  public mutating func step(
    _ condition: PlantCondition, isRainDelayed: Bool, at now: TickInstant, reading: WallReading, day: Int
  ) -> Outcome {
    let wall = PlantInstant(secondsSince1970: reading.secondsSince1970)
    var day = day
    if condition.alerts.contains(.silent) { return .none(.sensorSilent) }
    guard condition.alerts.contains(.dry), !condition.alerts.contains(.wet) else { return .none(.notDry) }
    if condition.needsConfirmation { return .none(.needsConfirmation) }
    if isRainDelayed { return .none(.rainDelay) }
    if var kept = record {
      if !reading.isConfirmed { day = kept.day }
      // An older version has not kept how long ago it was, and a clock that was set does not tell: taken for this very moment, unless the
      // clock is sure.
      if kept.age == nil { kept.age = KeptAge(reading.mayDelete ? Double(max(0, wall - kept.last)) : 0, at: reading) }
      kept.day = min(kept.day, day)
      record = kept
      if requested == nil, kept.age.map({ $0.seconds(at: reading) < Double(settings.minimumGapSeconds) }) ?? false {
        return .none(.tooSoon)
      }
      if let requested, now - requested < .seconds(settings.minimumGapSeconds) { return .none(.tooSoon) }
    }
    let count = record.map { day == $0.day ? $0.count : 0 } ?? 0
    guard count < settings.maximumPerDay else { return .none(.enoughToday) }
    record = PlantWateringRecord(last: wall, count: count + 1, day: day)
    record?.age = KeptAge(at: reading)
    requested = now
    return .request(PlantWateringRequest(plant: plant, zone: settings.zone, seconds: settings.seconds))
  }

  /// How much of the gap is over is to be kept so often, s: by as much it is longer when the power fails.
  private static let noteSeconds = 600.0

  /// Returns what is to be stored, every ten minutes until the gap is over, or `nil` if nothing is.
  public mutating func noteGap(at reading: WallReading) -> PlantWateringRecord? {
    guard let age = record?.age, age.seconds(at: reading) < Double(settings.minimumGapSeconds) + Self.noteSeconds else {
      return nil
    }
    // In another boot the time without power is known once the clock is synchronised: it is waited for.
    let isDue =
      age.sinceNoted(at: reading).map { $0 >= Self.noteSeconds }
      ?? (reading.isSynchronised || reading.bootTime - .zero >= .seconds(600))
    guard isDue else { return nil }
    record?.age = age.noted(at: reading)
    return record
  }
}
