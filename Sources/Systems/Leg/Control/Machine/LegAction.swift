import Wire

/// What the servo must get now.
public enum LegOutput: Sendable, Hashable, BitwiseCopyable {
  /// What it gets already.
  case none
  /// No pulse.
  case off
  case pulse(PulseWidth)
}

/// Why an event did nothing.
public enum LegIgnoreReason: Sendable, Hashable, BitwiseCopyable, CaseIterable {
  case notArmed
  case alreadyArmed
  /// Disarm first.
  case inFault
  case emergencyStopped
  case lowBattery
  /// The chip has not taken the off yet, so a reset would forget a servo that may still be driven.
  case offNotConfirmed
  case nothingToReset
  /// It waited too long inside the daemon: it is not known whether it is still meant.
  case stale
  /// The frame is none.
  case notUnderstood
  case shutDown
  /// A confirmation of an output that is no longer in force.
  case outOfPlace
}

public enum LegVerdict: Sendable, Hashable, BitwiseCopyable {
  case accepted
  case ignored(LegIgnoreReason)
}

/// The machine's answer to one event.
public struct LegAction: Sendable, Hashable, BitwiseCopyable {
  public var output: LegOutput
  public var verdict: LegVerdict
  /// The answer to a `.report`.
  public var telemetry: LegTelemetry?

  @_noLocks @_noAllocation
  init(_ output: LegOutput, _ verdict: LegVerdict = .accepted) {
    self.output = output
    self.verdict = verdict
    telemetry = nil
  }

  @_noLocks @_noAllocation
  static func ignored(_ reason: LegIgnoreReason) -> LegAction { LegAction(.none, .ignored(reason)) }
}
