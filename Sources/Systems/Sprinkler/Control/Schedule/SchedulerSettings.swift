/// What the configuration says about schedules.
public struct SchedulerSettings: Sendable, Hashable {
  /// What a run by hand meets during a rain delay.
  public enum ManualInRain: String, Sendable, Hashable, CaseIterable {
    case allow
    /// Allowed, and the answer says that there is a rain delay.
    case warn
    case deny
  }

  /// What becomes of the runs that a power cut interrupted, which is another boot of the machine. What a program leaves that dies or
  /// is restarted within one boot is never resumed.
  public enum AfterPowerCut: String, Sendable, Hashable, CaseIterable {
    /// What is left of them runs, and what waited waits again.
    case resume
    /// They are logged and gone.
    case close
  }

  /// The controller's time zone: schedules are local time.
  public var zone: ZoneRules
  /// The GPIO lines that were requested, in the order of the request: a zone's line is the place of its pin in it.
  public var pins: [Int]
  /// The master valve's among them; no zone's.
  public var masterPin: Int?
  /// Where sunrise and sunset are computed for, or `nil` if programs that start by the sun are refused.
  public var place: GeographicPlace?
  /// A start is made up for if it was missed by no more, s.
  public var catchUpSeconds: Int
  /// A rain delay ends the open runs of programs, too; otherwise only those that wait.
  public var rainEndsOpenRuns: Bool
  public var manualInRain: ManualInRain
  public var afterPowerCut: AfterPowerCut
  /// After a longer outage nothing is resumed, s.
  public var longestOutageSeconds: Int
  /// Runs that may wait or be open together: what the irrigation machine holds.
  public var queueCapacity: Int
  /// What open runs have run is noted so often, s. A power cut charges them with as much beyond the last note, since nobody knows
  /// when the water stopped.
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

  /// Takes what may change while the schedule runs: how long a start is made up for, and what rain and a power cut do. Lines, time zone,
  /// place and capacity stay.
  mutating func takeRules(of new: SchedulerSettings) {
    catchUpSeconds = new.catchUpSeconds
    rainEndsOpenRuns = new.rainEndsOpenRuns
    manualInRain = new.manualInRain
    afterPowerCut = new.afterPowerCut
  }
}
