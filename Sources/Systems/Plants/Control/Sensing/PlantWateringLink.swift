@_spi(FromOutside) import Conversions
import Tactus

/// The settings of a plant's link, which limit its requests to a sprinkler zone. A plant without these settings has no link.
public struct PlantWateringSettings: Sendable, Hashable {
  /// The number of the zone, 1…64.
  public let zone: Int
  /// The duration of a watering, 1…3,600 s.
  public let seconds: Int
  /// The largest number of requests in one local day, 1…24.
  public let maximumPerDay: Int
  /// The shortest time between two requests, at least 60 s.
  public let minimumGapSeconds: Int64

  /// Creates settings. Throws an error with the name of the field if a value is out of its range.
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

/// A link's request for water, to which the sprinkler's rules still apply.
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

/// Requests water from a sprinkler zone while a plant is dry, so rarely that a broken sensor cannot flood the plant.
///
/// The conditions of a request are: the alert `dry`, and therefore a recent reading; no alert `silent` or `wet`; no
/// sensor whose last value is impossible in soil; no `needsConfirmation`; no rain delay; the gap since the last request
/// has passed, by a clock that cannot be set; and the day's number is not used up. A wall clock that is not confirmed
/// begins no new day, and setting the clock does not shorten the gap, also across a restart (`KeptAge`).
public struct PlantWateringLink: Sendable, Hashable {
  public enum Hindrance: String, Sendable, Hashable, CaseIterable {
    case notDry, sensorSilent, rainDelay, tooSoon, enoughToday
    /// With their present calibrations the sensors have never shown anything but dry, and no person has confirmed the plant.
    case needsConfirmation
  }
  public enum Outcome: Sendable, Hashable {
    case request(PlantWateringRequest)
    case none(Hindrance)
  }

  public let plant: PlantID
  public private(set) var settings: PlantWateringSettings
  public private(set) var record: PlantWateringRecord?
  /// The instant at which this process last made a request, or `nil` if it has not.
  private var requested: TickInstant?

  /// Creates a link. `record` is the record from the store, or `nil` if the store has no record of the link.
  public init(_ plant: PlantID, _ settings: PlantWateringSettings, record: PlantWateringRecord? = nil) {
    self.plant = plant
    self.settings = settings
    self.record = record
  }

  /// Changes the limits; earlier requests count against the new ones.
  public mutating func apply(_ new: PlantWateringSettings) { settings = new }

  /// Decides whether to request water now. After a request, `record` must be stored.
  ///
  /// - Parameters:
  ///   - day: days since 1970 in the controller's local calendar.
  ///   - isRainDelayed: whether the sprinkler has a rain delay.
  public mutating func step(
    _ condition: PlantCondition, isRainDelayed: Bool, at now: TickInstant, reading: WallReading, day: Int
  ) -> Outcome {
    let wall = PlantInstant(secondsSince1970: reading.secondsSince1970)
    var day = day
    if condition.alerts.contains(.silent) || condition.isDoubtful { return .none(.sensorSilent) }
    guard condition.alerts.contains(.dry), !condition.alerts.contains(.wet) else { return .none(.notDry) }
    if condition.needsConfirmation { return .none(.needsConfirmation) }
    if isRainDelayed { return .none(.rainDelay) }
    if var kept = record {
      if !reading.isConfirmed { day = kept.day }
      // A record of an older version does not contain the time since the request. Unless the clock is trusted, the
      // request counts as made just now.
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

  /// The interval in seconds at which the elapsed part of the gap is stored; a power cut lengthens the gap by at most this interval.
  private static let noteSeconds = 600.0

  /// Returns the record to store, every ten minutes until the gap has passed, or `nil` if nothing is to be stored.
  public mutating func noteGap(at reading: WallReading) -> PlantWateringRecord? {
    guard let age = record?.age, age.seconds(at: reading) < Double(settings.minimumGapSeconds) + Self.noteSeconds else {
      return nil
    }
    // After a reboot the time without power is not known until the clock is synchronised, so the note waits for that.
    let isDue =
      age.sinceNoted(at: reading).map { $0 >= Self.noteSeconds }
      ?? (reading.isSynchronised || reading.bootTime - .zero >= .seconds(600))
    guard isDue else { return nil }
    record?.age = age.noted(at: reading)
    return record
  }
}

/// The requests of a plant's link to a sprinkler zone, stored so that the limits hold across a restart.
public struct PlantWateringRecord: Sendable, Hashable, Codable {
  /// The wall-clock time of the last request, for display.
  public var last: PlantInstant
  /// The time elapsed since the last request, for the gap; `nil` in a row of an older version.
  var age: KeptAge?
  /// The number of requests on the day `day`.
  public var count: Int
  /// The number of days since 1970 in the controller's local calendar.
  public var day: Int

  public init(last: PlantInstant, count: Int, day: Int) {
    age = nil
    self.last = last
    self.count = count
    self.day = day
  }
}
