@_spi(FromOutside) import Conversions
import Tactus
import WallTime

/// One line of the watering log, for a run that ended or was suppressed.
public struct WateringRecord: Sendable, Hashable, Codable {
  /// The number of the run; suppressed runs also have a number.
  public var run: UInt64
  public var zone: ZoneID
  /// The zone's name at the time of the run.
  public var zoneName: String
  /// The program's number, or `nil` if a person started the zone without a program.
  public var program: Int?
  public var programName: String?
  /// Whether the schedule of the program started the run, as opposed to a person.
  public var isScheduled: Bool
  /// The instant at which the valve opened or, if it never opened, at which it was due to open.
  public var start: WallInstant
  public var askedSeconds: Int
  /// The time for which the valve was open by the monotonic clock, pauses not counted, in seconds; 0 if it never
  /// opened.
  public var ranSeconds: Double
  public var outcome: RunOutcome
  /// The client that asked for the run, named as in the access log, or `nil` if the controller started it by itself.
  public var caller: String?
  /// A description for people of the rain, the deficit or the reading of the soil that suppressed, ended or changed the
  /// run, or of the values that were missing; `nil` if none did.
  public var why: String?
  /// The water that was requested, in litres, or `nil` for a run by time.
  public var askedLitres: Double?
  /// The water by the flow sensor while the valve was open, in litres, or `nil` without a sensor or if the valve never
  /// opened.
  public var litres: Double?

  public init(
    run: UInt64, zone: ZoneID, zoneName: String, program: Int?, programName: String?, isScheduled: Bool,
    start: WallInstant, askedSeconds: Int, ranSeconds: Double, outcome: RunOutcome, caller: String? = nil,
    why: String? = nil
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
    self.why = why
  }
}

/// A run that is queued or open. The store keeps it from the moment at which it is accepted, so that a power cut loses no run.
public struct PendingRun: Sendable, Hashable, Codable {
  public var run: UInt64
  public var zone: ZoneID
  public var program: Int?
  public var isScheduled: Bool
  public var askedSeconds: Int
  public var soakSeconds: Int
  public var ignoresRain: Bool
  /// The instant at which the run entered the queue.
  public var queued: WallInstant
  /// The instant at which the valve opened, or `nil` if the run is still waiting.
  public var opened: WallInstant?
  /// The time for which the valve had been open when the run was last saved, pauses not counted, in seconds.
  public var ranSeconds: Double
  public var caller: String?
  /// The boot in which the run was last saved, or `nil` if the boot was not known.
  public var boot: BootID?
  /// The instant since which the valve has been open beyond `ranSeconds`, on the clock of `boot`, in seconds, or `nil` if the valve was closed when
  /// the record was last saved.
  public var openSince: Double?
  /// The outcome with which the previous process left the run behind, or `nil` if that process did not shut down in order.
  public var leftBy: RunOutcome?
  /// A description for people of the change that the deficit and the soil made to the run, or `nil` if there was none.
  public var why: String?
  /// The water that is requested, in litres, or `nil` for a run by time; `askedSeconds` is then the longest time.
  public var litres: Double?
  /// The water by the flow sensor when the run was last saved, in litres, or `nil` if it is not known.
  public var flowedLitres: Double?

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

/// A start that has been dealt with, whether it made a run or was suppressed. It is not carried out again on that date.
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

/// A start of a program that was dealt with and made no run. If the clock is then set back, the start is taken back and is due again at its time.
public struct SuppressedStart: Sendable, Hashable, Codable {
  public var key: StartKey
  /// The instant at which the start was due, by the wall clock.
  public var due: WallInstant
  /// The reason why no run was made; `missed` takes precedence if there are several.
  public var why: RunOutcome

  /// Creates the value without checking the arguments.
  public init(_ key: StartKey, due: WallInstant, why: RunOutcome) {
    self.key = key
    self.due = due
    self.why = why
  }
}

extension WateringRecord {
  /// Returns whether this is the log line of a run that `start` did not make.
  public func isOf(_ start: SuppressedStart) -> Bool {
    isScheduled && ranSeconds == 0 && program == start.key.program && self.start == start.due
      && Self.withoutRun.contains(outcome)
  }

  /// The outcomes of runs that were never made.
  public static var withoutRun: [RunOutcome] {
    [.missed, .rainDelay, .overlap, .disabled, .seasonalLevel, .wetSoil, .noDeficit]
  }
}

/// A period during which programs do not water, except by runs that ignore rain.
///
/// The remaining time follows from the requested duration and the time elapsed since the request. `until` is shown to people, and is adjusted
/// when the wall clock is set.
public struct RainDelay: Sendable, Hashable, Codable {
  public enum Reason: Sendable, Hashable, Codable {
    case manual
    /// A weather forecast, with its text: `8.2 mm expected within 24 h`.
    case weather(String)
    /// A rain sensor, with its text: `rain sensor wet since 2026-07-01 05:50`.
    case sensor(String)
  }
  public var until: WallInstant
  public var reason: Reason
  /// The requested duration, in seconds; `nil` in a row written by an older version, where only `until` is known.
  var seconds: Int?
  /// The time elapsed since the request, kept across restarts; `nil` in a row written by an older version.
  var age: KeptAge?

  /// Creates a delay as older versions stored it, with nothing but its end.
  public init(until: WallInstant, reason: Reason) {
    self.until = until
    self.reason = reason
  }

  /// Creates a delay that starts now and lasts 1…1,209,600 s.
  public init(seconds: Int, reason: Reason, at now: WallReading) {
    until = WallInstant(now) + Int64(seconds)
    self.reason = reason
    self.seconds = seconds
    age = KeptAge(at: now)
  }

  /// The report of the forecast or the rain sensor, in words for people, or `nil` if a person began the delay.
  public var why: String? {
    switch reason {
    case .manual: nil
    case .weather(let text), .sensor(let text): text
    }
  }

  /// Returns the remaining time, in seconds, zero or negative if the delay is over; `nil` if an older version stored
  /// it.
  func left(at now: WallReading) -> Double? {
    guard let seconds, let age else { return nil }
    // The stored number is not trusted: no delay is longer than the longest one.
    return min(Double(SprinklerScheduler.longestRainDelay), max(-1e6, Double(seconds) - age.seconds(at: now)))
  }
}

extension WallInstant {
  /// Creates the whole second that the wall clock showed.
  public init(_ reading: WallReading) { self.init(secondsSince1970: reading.secondsSince1970) }
}

/// The seasonal levels, which scale the durations of programs.
public struct SprinklerLevels: Sendable, Hashable, Codable {
  /// The level of every duration that follows the season, 0…250 %.
  public var seasonalPercent: Int
  /// Levels that replace `seasonalPercent`, one for each month from January on; empty if the level is the same all year.
  public var monthlyPercent: [Int]

  public init(seasonalPercent: Int = 100, monthlyPercent: [Int] = []) {
    self.seasonalPercent = seasonalPercent
    self.monthlyPercent = monthlyPercent
  }
}
