import WallTime

/// The settings of the schedules that the configuration contains.
public struct SchedulerSettings: Sendable, Hashable {
  /// The treatment of runs that a person starts during a rain delay.
  public enum ManualInRain: String, Sendable, Hashable, CaseIterable {
    case allow
    /// The run is allowed, and the answer mentions the rain delay.
    case warn
    case deny
  }

  /// The treatment of runs that a power cut interrupted, as recognised by a new boot of the computer. Runs interrupted by a crash or
  /// a restart of the daemon within one boot are never resumed.
  public enum AfterPowerCut: String, Sendable, Hashable, CaseIterable {
    /// Interrupted runs continue for their remaining time, and queued runs are queued again.
    case resume
    /// Interrupted and queued runs are logged and dropped.
    case close
  }

  /// The controller's time zone, in which all schedules are.
  public var zone: ZoneRules
  /// The requested GPIO lines, in the order of the request. The index of a zone's pin in this array is the zone's line.
  public var pins: [Int]
  /// The pin of the master valve, which no zone may use, or `nil` if there is no master valve.
  public var masterPin: Int?
  /// The place for which sunrise and sunset are computed, or `nil` if programs that start by the sun are refused.
  public var place: GeographicPlace?
  /// The greatest delay with which a missed start is still carried out, in seconds.
  public var catchUpSeconds: Int
  /// Whether a rain delay also ends the open runs of programs; otherwise it affects queued runs only.
  public var rainEndsOpenRuns: Bool
  public var manualInRain: ManualInRain
  public var afterPowerCut: AfterPowerCut
  /// The longest outage after which runs are resumed, in seconds.
  public var longestOutageSeconds: Int
  /// The greatest number of runs that are queued or open; the capacity of the irrigation machine.
  public var queueCapacity: Int
  /// The rules by which wet soil keeps programs from watering.
  public var moisture: [MoistureRule] = []
  /// The rules of the zones whose deficit is reckoned.
  public var deficits: [ZoneID: DeficitRule] = [:]
  /// The longest duration that a deficit may give to a step, in % of the step's seconds, 100…250.
  public var deficitPercent = 200
  /// The rules of zones whose flow is watched by limits of their own.
  public var flows: [ZoneID: ZoneFlowRule] = [:]
  /// The settings by which the flow of the zones is watched and learnt.
  public var zoneFlow = ZoneFlowSettings()
  /// The rule by which schedules follow the rain sensor, or `nil` if there is no sensor.
  public var rainSensor: RainSensorRule?
  /// The flow sensor's pulses per litre, or `nil` if there is no sensor, so that runs by litres are refused.
  public var pulsesPerLitre: Double?
  /// The interval at which the times of open runs are saved, in seconds. A power cut charges a run for this interval beyond the last
  /// save, since the instant at which the water stopped is unknown.
  public var noteSeconds = 10

  public init(
    zone: ZoneRules, pins: [Int], masterPin: Int? = nil, place: GeographicPlace? = nil, catchUpSeconds: Int = 300,
    rainEndsOpenRuns: Bool = true,
    manualInRain: ManualInRain = .warn, afterPowerCut: AfterPowerCut = .resume, longestOutageSeconds: Int = 7_200,
    queueCapacity: Int = 256
  ) {
    self.zone = zone
    self.pins = pins
    self.masterPin = masterPin
    self.place = place
    self.catchUpSeconds = catchUpSeconds
    self.rainEndsOpenRuns = rainEndsOpenRuns
    self.manualInRain = manualInRain
    self.afterPowerCut = afterPowerCut
    self.longestOutageSeconds = longestOutageSeconds
    self.queueCapacity = queueCapacity
  }

  /// Takes over the settings that may change while the scheduler runs: the catch-up time and the treatment of rain and power cuts. Lines, time
  /// zone, place and capacity stay.
  mutating func takeRules(of new: SchedulerSettings) {
    catchUpSeconds = new.catchUpSeconds
    rainEndsOpenRuns = new.rainEndsOpenRuns
    manualInRain = new.manualInRain
    afterPowerCut = new.afterPowerCut
    rainSensor = new.rainSensor
    deficitPercent = new.deficitPercent
    zoneFlow = new.zoneFlow
  }
}
