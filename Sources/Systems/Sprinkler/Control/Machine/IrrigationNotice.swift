import Tactus

/// Something worth a line in the log: a change, never a repetition.
public struct IrrigationNotice: Sendable, Hashable, BitwiseCopyable {
  public enum Subject: Sendable, Hashable, BitwiseCopyable {
    /// The zone's valve opened for a run. Once for each run that opens.
    case opened(ZoneRun)
    /// It opened again after a pause, for what was left.
    case reopened(ZoneRun, left: Nanoseconds)
    /// Exactly once for each run that was accepted.
    case ended(EndedRun)
    /// The run, whose duration is the new one, lasts longer than asked at first, or `nil` if it is paused or about to open.
    case extended(ZoneRun, until: TickInstant?)
    /// Another state, or another cause of a fault.
    case state(IrrigationState)
    case master(isOpen: Bool)
    case flowAlarm(FlowAlarm)
    /// What was wrong with the flow is not any more.
    case flowNormal
    /// Lines that were read otherwise than told, both as masks.
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

/// A run at its end.
public struct EndedRun: Sendable, Hashable, BitwiseCopyable {
  public let run: ZoneRun
  public let outcome: RunOutcome
  /// How long its valve was open, pauses not counted.
  public let ran: Nanoseconds
  /// Instant at which the valve first opened, or `nil` if it never did.
  public let opened: TickInstant?
  /// Flow sensor pulses while it was open; shared evenly where several were.
  public let pulses: Int64
  /// What the zone has run today, this run included.
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
