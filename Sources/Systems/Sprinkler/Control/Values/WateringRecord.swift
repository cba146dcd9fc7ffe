import Tactus
import WallTime

/// One line of the watering log: a run that ended, or one that was suppressed.
public struct WateringRecord: Sendable, Hashable, Codable {
  /// The run's; suppressed runs have one, too.
  public var run: UInt64
  public var zone: ZoneID
  /// The zone's name when it ran.
  public var zoneName: String
  /// Nil: by hand.
  public var program: Int?
  public var programName: String?
  /// Whether the program's own start asked for it, as opposed to a person.
  public var isScheduled: Bool
  /// When the valve opened, or when it should have.
  public var start: WallInstant
  public var askedSeconds: Int
  /// By the monotonic clock, pauses not counted; 0: it never opened.
  public var ranSeconds: Double
  public var outcome: RunOutcome
  /// Who asked, as the access log names callers, or `nil` for the controller itself.
  public var caller: String?

  public init(
    run: UInt64, zone: ZoneID, zoneName: String, program: Int?, programName: String?, isScheduled: Bool,
    start: WallInstant, askedSeconds: Int, ranSeconds: Double, outcome: RunOutcome, caller: String? = nil
  ) {
    self.run = run
    self.zone = zone
    self.zoneName = zoneName
    self.program = program
    self.programName = programName
    self.isScheduled = isScheduled
    self.start = start
    self.askedSeconds = askedSeconds
    self.ranSeconds = ranSeconds
    self.outcome = outcome
    self.caller = caller
  }
}

/// A run that is in the queue or open: kept in the store from the moment it is taken, so that a power cut loses nothing.
public struct PendingRun: Sendable, Hashable, Codable {
  public var run: UInt64
  public var zone: ZoneID
  public var program: Int?
  public var isScheduled: Bool
  public var askedSeconds: Int
  public var soakSeconds: Int
  public var ignoresRain: Bool
  /// When it was taken into the queue.
  public var queued: WallInstant
  /// When the valve opened, or `nil` if it waits.
  public var opened: WallInstant?
  /// What it had run when it was last noted, pauses not counted, s.
  public var ranSeconds: Double
  public var caller: String?
  /// The boot in which it was last noted, or `nil` if that was not known.
  public var boot: BootID?
  /// Since when its valve has been open beyond `ranSeconds`, by that boot's clock, s, or `nil` if it is closed as far as was noted.
  public var openSince: Double?
  /// How the program ended that left it behind, or `nil` if it did not end in an orderly way.
  public var leftBy: RunOutcome?

  public init(
    run: UInt64, zone: ZoneID, program: Int?, isScheduled: Bool, askedSeconds: Int, soakSeconds: Int,
    ignoresRain: Bool, queued: WallInstant, opened: WallInstant? = nil, ranSeconds: Double = 0, caller: String? = nil
  ) {
    self.run = run
    self.zone = zone
    self.program = program
    self.isScheduled = isScheduled
    self.askedSeconds = askedSeconds
    self.soakSeconds = soakSeconds
    self.ignoresRain = ignoresRain
    self.queued = queued
    self.opened = opened
    self.ranSeconds = ranSeconds
    self.caller = caller
  }
}

/// A start that has been dealt with, run or suppressed: never again on that date.
public struct StartKey: Sendable, Hashable, Codable {
  public var program: Int
  public var start: StartTime
  public var date: LocalDate

  public init(program: Int, start: StartTime, date: LocalDate) {
    self.program = program
    self.start = start
    self.date = date
  }
}

/// A start of a program that was dealt with and made no run. A clock that is set back takes it back: it is due again at its time.
public struct SuppressedStart: Sendable, Hashable, Codable {
  public var key: StartKey
  /// When it was due, by the wall clock.
  public var due: WallInstant
  /// Why no run was made; of several reasons `missed`, if that is one.
  public var why: RunOutcome

  /// Checks nothing.
  public init(_ key: StartKey, due: WallInstant, why: RunOutcome) {
    self.key = key
    self.due = due
    self.why = why
  }
}

extension WateringRecord {
  /// Whether it is the line of a run that was not made at this start.
  public func isOf(_ start: SuppressedStart) -> Bool {
    isScheduled && ranSeconds == 0 && program == start.key.program && self.start == start.due
      && Self.withoutRun.contains(outcome)
  }

  /// What a line says of a run that was never made.
  public static var withoutRun: [RunOutcome] { [.missed, .rainDelay, .overlap, .disabled, .seasonalLevel] }
}

/// No watering until then.
///
/// What decides is how long it was asked for and how long ago that was; `until` is for people, and follows the wall clock when that is set.
public struct RainDelay: Sendable, Hashable, Codable {
  public enum Reason: Sendable, Hashable, Codable {
    case manual
    /// What the forecast said: `8.2 mm expected within 24 h`.
    case weather(String)
  }
  public var until: WallInstant
  public var reason: Reason
  /// How long it was asked for, s; `nil` in a row of an older version, of which `until` is all that is known.
  var seconds: Int?
  /// How long ago that was.
  var age: KeptAge?

  /// As older versions kept it.
  public init(until: WallInstant, reason: Reason) {
    self.until = until
    self.reason = reason
  }

  /// From now on, for 1…1,209,600 s.
  public init(seconds: Int, reason: Reason, at now: WallReading) {
    until = WallInstant(now) + Int64(seconds)
    self.reason = reason
    self.seconds = seconds
    age = KeptAge(at: now)
  }

  /// What is left of it, s; not above zero if it is over, `nil` in a row of an older version.
  func left(at now: WallReading) -> Double? {
    guard let seconds, let age else { return nil }
    // Whatever a row says: no delay is longer than any can be.
    return min(Double(SprinklerScheduler.longestRainDelay), max(-1e6, Double(seconds) - age.seconds(at: now)))
  }
}

extension WallInstant {
  /// The whole second that the clock showed.
  public init(_ reading: WallReading) { self.init(secondsSince1970: reading.secondsSince1970) }
}

/// What the API changes besides zones and programs.
public struct SprinklerLevels: Sendable, Hashable, Codable {
  /// Of every duration that follows the season; 0…250 %.
  public var seasonalPercent: Int
  /// In place of it, one a month, January first; empty: the same all year.
  public var monthlyPercent: [Int]

  public init(seasonalPercent: Int = 100, monthlyPercent: [Int] = []) {
    self.seasonalPercent = seasonalPercent
    self.monthlyPercent = monthlyPercent
  }
}
