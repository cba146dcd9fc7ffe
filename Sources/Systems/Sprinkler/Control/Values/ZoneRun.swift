/// A request to open one zone once: the element of the irrigation machine's queue.
public struct ZoneRun: Sendable, Hashable, BitwiseCopyable {
  /// The origin of a run.
  public enum Source: Sendable, Hashable, BitwiseCopyable {
    case manual
    /// A program, started by its schedule.
    case program(id: Int32)
    /// A program, or a list of zones, that a person started by hand.
    case once(program: Int32)
    /// A run that a power cut interrupted and that now continues.
    case resumed(program: Int32)
  }
  /// The run's number, never reused; the key of the run in the log.
  public var id: UInt64
  public var zone: ZoneID
  /// The duration, 1…86,400 s.
  public var seconds: UInt32
  public var source: Source
  /// The shortest time for which the zone must have been closed before this run opens it, in seconds.
  public var soakSeconds: UInt32
  /// Whether the run is exempt from rain delays, which then neither suppress nor end the run.
  public var ignoresRain: Bool
  /// The water after which the run ends by the flow sensor, above 0 and up to 100,000 l, or `nil` for a run by time. `seconds` is then the longest
  /// time; without a flow sensor the run lasts that long.
  public var litres: Double?

  @_noLocks @_noAllocation
  public init(
    id: UInt64, zone: ZoneID, seconds: UInt32, source: Source, soakSeconds: UInt32 = 0, ignoresRain: Bool = false,
    litres: Double? = nil
  ) {
    self.id = id
    self.zone = zone
    self.seconds = seconds
    self.source = source
    self.soakSeconds = soakSeconds
    self.ignoresRain = ignoresRain
    self.litres = litres
  }
}

/// The way in which a run ended, or the reason why it never began.
public enum RunOutcome: UInt8, Sendable, Hashable, Codable, BitwiseCopyable {
  /// The run lasted as long as requested, or had the water that was requested.
  case completed
  /// A person stopped the run by off, by skip or by clearing the queue.
  case stopped
  /// Another run of the same zone replaced this run, or another run of the same group did because no more valves may be open.
  case replaced
  case rainDelay
  case emergencyStop
  /// The lines could not be set, the flow sensor raised an alarm, or the loop missed releases.
  case fault
  /// The daemon shut down; the rest of the run may have been resumed later.
  case shutdown
  /// The power failed or the computer was restarted, as found at the next start.
  case powerCut
  /// The zone reached its daily limit.
  case dayLimit
  /// The zone was disabled.
  case disabled
  /// The seasonal level reduced the duration to nothing.
  case seasonalLevel
  /// The controller came to the start after the catch-up window had passed.
  case missed
  /// The zone's longest run was reduced below the duration of this run.
  case runLimit
  /// The program was still busy with two earlier starts, or the queue was full.
  case overlap
  /// The daemon crashed and the guard closed the valve, as found at the next start. The rest of the run is not resumed.
  case crash
  /// The guard, a process outside the daemon, turned the valves off while the daemon hung or was stopped. The rest of the run is not resumed.
  case externalStop
  /// A start was dealt with under a wrong clock and made no run. When the clock was corrected, this outcome replaced the one in the log,
  /// and the start was due again at its time.
  case wrongClock
  /// A reading of the soil was beyond the limit of a rule. `WateringRecord.why` says which.
  case wetSoil
  /// The zone's deficit was below the least deficit at which programs that use deficits water it.
  case noDeficit
  /// The longest time of a run by litres was over before it had its water.
  case timeLimit
}
