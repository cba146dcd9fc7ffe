import Wire

/// The output for the servo at this instant.
public enum LegOutput: Sendable, Hashable, BitwiseCopyable {
  /// The output stays unchanged.
  case none
  /// The servo gets no pulse.
  case off
  case pulse(PulseWidth)
}

/// The reason why an event was ignored.
public enum LegIgnoreReason: Sendable, Hashable, BitwiseCopyable, CaseIterable {
  case notArmed
  case alreadyArmed
  /// The leg is in fault and must be disarmed first.
  case inFault
  case emergencyStopped
  case lowBattery
  /// The chip has not confirmed the off yet, so a reset might be given to a servo that is still driven.
  case offNotConfirmed
  case nothingToReset
  /// The request waited too long inside the daemon, so the client may no longer mean it.
  case stale
  /// The frame could not be decoded.
  case notUnderstood
  case shutDown
  /// The confirmation concerns an output that is no longer in force.
  case outOfPlace
  /// The sequence to be played no longer exists, because another one was handed over after it.
  case noSequence
  /// The first motion of a sequence would exceed the slew of the leg.
  case tooFast
}

extension LegIgnoreReason {
  var isNothingToReset: Bool {
    @_noLocks @_noAllocation get { if case .nothingToReset = self { true } else { false } }
  }
}

public enum LegVerdict: Sendable, Hashable, BitwiseCopyable {
  case accepted
  case ignored(LegIgnoreReason)
}

/// The machine's response to one event.
public struct LegAction: Sendable, Hashable, BitwiseCopyable {
  public var output: LegOutput
  public var verdict: LegVerdict
  /// The telemetry in response to a `.report`, or `nil` for any other event.
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
