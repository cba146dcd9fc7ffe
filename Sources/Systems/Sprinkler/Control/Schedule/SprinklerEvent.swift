import WallTime

/// What the scheduler hears.
public enum SprinklerEvent: Sendable, Hashable {
  /// Once, before everything else: the records are those the last process left.
  case started
  /// Called a few times a second; cheap when nothing is due.
  case timePassed
  /// The caller as the access log names it, or `nil` for the controller itself.
  case command(SprinklerCommand, caller: String?)
  /// From the irrigation machine: the run's valve opened, or opened again after a pause.
  case opened(run: UInt64)
  /// From the irrigation machine: the run is over, or never began (0 s).
  case ended(run: UInt64, ranSeconds: Double, outcome: RunOutcome)
  /// The irrigation machine did not take a run that was ordered.
  case refused(run: UInt64, IrrigationRefusal)
  /// What runs that have begun have run so far, to be noted in case the program dies or the power fails: every
  /// `SchedulerSettings.noteSeconds`.
  case progress([RunProgress])
  case weather(WeatherVerdict)
  /// The configuration's rules are others from now on; what is open or waits goes on. Lines, time zone and place stay.
  case settings(SchedulerSettings)
}

/// How far an open run is.
public struct RunProgress: Sendable, Hashable {
  public var run: UInt64
  /// By the monotonic clock, pauses not counted.
  public var ranSeconds: Double
  /// Whether its valve is open; otherwise it is paused.
  public var isOpen: Bool
  /// How long ago that was so, s: a loop that hangs says nothing newer, and its valve may have been closed since.
  public var ageSeconds: Double

  public init(run: UInt64, ranSeconds: Double, isOpen: Bool = true, ageSeconds: Double = 0) {
    self.run = run
    self.ranSeconds = ranSeconds
    self.isOpen = isOpen
    self.ageSeconds = ageSeconds
  }
}

/// What a forecast means for watering.
public enum WeatherVerdict: Sendable, Hashable {
  /// No watering for so long, s; the reason as people see it: `8.2 mm expected within 24 h`.
  case rain(seconds: Int, reason: String)
  /// Nothing is known of some days, and what is known is no reason to wait: whatever is in force stays.
  case unknown
  /// No reason to wait: ends a delay that the weather made.
  case dry
}
