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
  /// Who asked, as the access log names callers; nil: the controller itself.
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
  /// When the valve opened; nil: it waits.
  public var opened: WallInstant?
  /// What it had run when it was last noted, pauses not counted, s.
  public var ranSeconds: Double
  public var caller: String?
  /// The boot in which it was last noted; `nil` if that was not known.
  public var boot: BootID?
  /// Since when its valve has been open beyond `ranSeconds`, by that boot's clock, s; `nil` if it is closed as far as was noted.
  public var openSince: Double?
  /// How the program ended that left it behind; `nil` if it did not end in an orderly way.
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

/// No watering until then.
public struct RainDelay: Sendable, Hashable, Codable {
  public enum Reason: Sendable, Hashable, Codable {
    case manual
    /// What the forecast said: `8.2 mm expected within 24 h`.
    case weather(String)
  }
  public var until: WallInstant
  public var reason: Reason

  public init(until: WallInstant, reason: Reason) {
    self.until = until
    self.reason = reason
  }
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
