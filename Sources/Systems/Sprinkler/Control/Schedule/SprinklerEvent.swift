import WallTime

/// The inputs of the scheduler.
public enum SprinklerEvent: Sendable, Hashable {
  /// The process started, with the records that the previous one left. It must be the first event, exactly once.
  case started
  /// Time passed. The event is sent a few times a second, and is cheap if nothing is due.
  case timePassed
  /// A client gave a command. `caller` is its name in the access log, or `nil` for the controller itself.
  case command(SprinklerCommand, caller: String?)
  /// The irrigation machine reported that the run's valve opened, or reopened after a pause.
  case opened(run: UInt64)
  /// The irrigation machine reported that the run ended, or that it never began (0 s), with the flow sensor's pulses in it.
  case ended(run: UInt64, ranSeconds: Double, outcome: RunOutcome, pulses: Int64 = 0)
  /// The irrigation machine refused a run.
  case refused(run: UInt64, IrrigationRefusal)
  /// The times of the runs that have begun, to be saved in case of a crash or a power cut; sent every `SchedulerSettings.noteSeconds`.
  case progress([RunProgress])
  case weather(WeatherVerdict)
  /// The weather of the last days, with every answer of the provider. Days that were counted before are ignored.
  case pastWeather(PastWeather)
  /// The newest readings of the soil, sent every ten seconds; a probe without one is left out.
  case moisture([MoistureReading])
  /// The rain sensor's line reads otherwise than before, or has been read for the first time.
  case rainSensor(RainSensorReading)
  /// The configuration's rules changed. Open and queued runs go on; lines, time zone and place stay.
  case settings(SchedulerSettings)
}

/// The progress of a run that has begun.
public struct RunProgress: Sendable, Hashable {
  public var run: UInt64
  /// The time for which the valve has been open by the monotonic clock, pauses not counted, in seconds.
  public var ranSeconds: Double
  /// Whether the valve is open; otherwise the run is paused.
  public var isOpen: Bool
  /// The flow sensor's pulses in the run so far. The value is 0 while the run is paused; the number that was saved last then stays.
  public var pulses: Int64 = 0
  /// The age of this information, in seconds. If the loop hangs, the information is old, and the valve may have been
  /// closed since.
  public var ageSeconds: Double

  public init(run: UInt64, ranSeconds: Double, isOpen: Bool = true, ageSeconds: Double = 0) {
    self.run = run
    self.ranSeconds = ranSeconds
    self.isOpen = isOpen
    self.ageSeconds = ageSeconds
  }
}

/// The consequence of a forecast for watering.
public enum WeatherVerdict: Sendable, Hashable {
  /// Rain is expected, so nothing should be watered for `seconds`. The reason is shown to people: `8.2 mm expected within 24 h`.
  case rain(seconds: Int, reason: String)
  /// The forecast lacks some days, and the others are no reason to wait: a rain delay in force stays.
  case unknown
  /// No rain is expected: a rain delay that the forecast started ends.
  case dry
}
