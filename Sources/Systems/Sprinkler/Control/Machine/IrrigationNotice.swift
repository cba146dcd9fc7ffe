import Tactus

/// A change that deserves a line in the log; a repetition never makes one.
public struct IrrigationNotice: Sendable, Hashable, BitwiseCopyable {
  public enum Subject: Sendable, Hashable, BitwiseCopyable {
    /// The zone's valve opened for a run. Issued once for each run that opens.
    case opened(ZoneRun)
    /// The zone's valve reopened after a pause, for the remaining time.
    case reopened(ZoneRun, left: Nanoseconds)
    /// A run ended. Issued exactly once for each accepted run.
    case ended(EndedRun)
    /// A run was lengthened, and has its new duration. `until` is the new end, or `nil` if the run is paused or about to open.
    case extended(ZoneRun, until: TickInstant?)
    /// The state of the machine changed, or the end of a pause did.
    case state(IrrigationState)
    case master(isOpen: Bool)
    case flowAlarm(FlowAlarm)
    /// The flow is normal again after an alarm.
    case flowNormal
    /// The read-back of the lines differed from the levels written; both are masks.
    case linesDiffer(told: UInt64, read: UInt64)
    case linesAgree
  }
  public let at: TickInstant
  public let subject: Subject

  @_noLocks @_noAllocation
  init(at: TickInstant, _ subject: Subject) {
    self.at = at
    self.subject = subject
  }
}

/// The result of a run that has ended.
public struct EndedRun: Sendable, Hashable, BitwiseCopyable {
  public let run: ZoneRun
  public let outcome: RunOutcome
  /// The time for which the valve was open, pauses not counted.
  public let ran: Nanoseconds
  /// The instant at which the valve first opened, or `nil` if it never did.
  public let opened: TickInstant?
  /// The flow sensor's pulses while the valve was open; shared evenly among the valves open at the same time.
  public let pulses: Int64
  /// The time that the zone has run today, this run included.
  public let ranToday: Nanoseconds

  @_noLocks @_noAllocation
  init(
    run: ZoneRun, outcome: RunOutcome, ran: Nanoseconds, opened: TickInstant?, pulses: Int64, ranToday: Nanoseconds
  ) {
    self.run = run
    self.outcome = outcome
    self.ran = ran
    self.opened = opened
    self.pulses = pulses
    self.ranToday = ranToday
  }
}
