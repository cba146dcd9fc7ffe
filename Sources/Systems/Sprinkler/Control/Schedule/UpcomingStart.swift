import WallTime

/// A start of a program that is to come, as a preview shows it.
public struct UpcomingStart: Sendable, Hashable {
  public var program: Int
  public var programName: String
  /// Which of the program's starts, on which local date.
  public var key: StartKey
  public var at: WallInstant
  /// Its local time's offset from UTC, s.
  public var offsetSeconds: Int
  /// By order of opening. The times are an estimate: one zone after another, as if all were in one group and nobody
  /// interfered.
  public var runs: [UpcomingRun]
  /// The rain delay in force now will suppress it, or those of its runs that do not ignore rain.
  public var isInRainDelay: Bool
}

/// A zone's run in a preview.
public struct UpcomingRun: Sendable, Hashable {
  public var zone: ZoneID
  /// Estimated.
  public var start: WallInstant
  public var seconds: Int
  /// Why it will not happen, as far as is known now.
  public var skipped: RunOutcome?
}

/// The next starts of all programs, and those that will not happen.
public struct SprinklerPreview: Sendable, Hashable {
  /// By instant.
  public var starts: [UpcomingStart]
  /// Starts by the sun on days on which it neither rises nor sets, within the time the preview covers.
  public var sunless: [StartKey]
}
