/// One zone to be opened once: what the queue of the irrigation machine holds.
public struct ZoneRun: Sendable, Hashable, BitwiseCopyable {
  /// Who asked for it.
  public enum Source: Sendable, Hashable, BitwiseCopyable {
    case manual
    /// A program by its own start.
    case program(id: Int32)
    /// A program, or a list of zones, that somebody started by hand.
    case once(program: Int32)
    /// A run that a power cut interrupted.
    case resumed(program: Int32)
  }
  /// Never used twice; the log's key.
  public var id: UInt64
  public var zone: ZoneID
  /// 1…86,400 s.
  public var seconds: UInt32
  public var source: Source
  /// The zone has been closed for at least so long before this opens it, s.
  public var soakSeconds: UInt32
  /// A rain delay neither keeps nor ends it.
  public var ignoresRain: Bool

  @_noLocks @_noAllocation
  public init(
    id: UInt64, zone: ZoneID, seconds: UInt32, source: Source, soakSeconds: UInt32 = 0, ignoresRain: Bool = false
  ) {
    self.id = id
    self.zone = zone
    self.seconds = seconds
    self.source = source
    self.soakSeconds = soakSeconds
    self.ignoresRain = ignoresRain
  }
}

/// How a run ended, or why it never began.
public enum RunOutcome: UInt8, Sendable, Hashable, Codable, BitwiseCopyable {
  /// As long as asked.
  case completed
  /// By a person: off, skip, queue cleared.
  case stopped
  /// By another run of the same zone, or of its group where only one may be open.
  case replaced
  case rainDelay
  case emergencyStop
  /// Lines that could not be set, a flow alarm, missed releases.
  case fault
  /// The program ended; the rest may have been resumed.
  case shutdown
  /// The power failed, or the machine was restarted; found at the next start.
  case powerCut
  /// The zone's limit for a day was reached.
  case dayLimit
  /// The zone was disabled.
  case disabled
  /// A seasonal level that leaves nothing to do.
  case seasonalLevel
  /// Its start was further back than the catch-up window when the controller came to it.
  case missed
  /// The zone's longest run was made shorter than this one.
  case runLimit
  /// Its program was still at work on two earlier starts, or the queue was full.
  case overlap
  /// The program died without an end, and the guard closed the valve; found at the next start. Its rest does not follow.
  case crash
  /// Somebody outside the program, its guard, turned the valves off while it hung or was stopped. Its rest does not follow.
  case externalStop
  /// A clock that was wrong had dealt with its start without watering. When the clock was set right, this line took the place of what that
  /// clock had logged, and the start was due again at its time.
  case wrongClock
}
