/// Everything that may happen to the operator side.
public enum PumpOperatorEvent: Sendable, Hashable, BitwiseCopyable {
  /// With a speed to be set once it runs, or `nil` for the pump's own.
  case turnOn(PumpSpeed?)
  case turnOff
  case setSpeed(PumpSpeed)
  case readTemperatures
  /// A person looks at the state now.
  case watched
  /// A command or a reset that waited too long inside the daemon.
  case stale
  /// From inside the daemon: off, latched until a reset.
  case emergencyStop
  /// Leave an emergency stop or a fault.
  case reset
  /// The connection has come, or has gone.
  case linked
  case unlinked
  /// Other settings, from now on: a limit that has been reached by then ends the run.
  case settings(PumpOperatorSettings)
  /// A line from the pump.
  case reply(PumpReply)
  /// A line that is not understood.
  case invalidLine
  /// A periodic release, or the release at `nextDeadline`.
  case tick
  /// The runtime gave up, or finished too late, so many periodic releases in a row.
  case missed(releases: Int64)
  /// Somebody outside has told the pump OFF.
  case externalStop
  /// Turn it off, and nothing else any more; ticks go on until it is confirmed.
  case quit
  /// The runtime is stopping: no tick follows.
  case shutdown

  /// Whether somebody asks for it, so that what it takes the place of is no failure.
  var isCommand: Bool {
    @_noLocks @_noAllocation get {
      switch self {
      case .turnOn, .turnOff, .setSpeed, .emergencyStop, .reset, .quit, .shutdown: true
      case .readTemperatures, .watched, .stale, .linked, .unlinked, .settings, .reply, .invalidLine, .tick, .missed,
        .externalStop:
        false
      }
    }
  }
}

/// Why an event did nothing.
public enum PumpIgnoreReason: Sendable, Hashable, BitwiseCopyable, CaseIterable {
  /// There is no connection, or no answer comes on it.
  case noContact
  /// The pump has not said yet what it does.
  case stateUnknown
  case alreadyOn
  case notRunning
  case inFault
  case emergencyStopped
  /// It has pumped for as long as it may: let it rest, or reset.
  case mustRest
  /// The pump has not confirmed the off.
  case offNotConfirmed
  /// A reset, while what caused the fault is still there.
  case causePersists
  /// A reset, before the pump has told a temperature since it stopped by itself.
  case noReadingYet
  case nothingToReset
  /// It waited too long inside the daemon: it is not known whether it is still meant.
  case stale
  /// The line is none.
  case notUnderstood
  case shutDown
}

public enum PumpVerdict: Sendable, Hashable, BitwiseCopyable {
  case accepted
  case ignored(PumpIgnoreReason)
}

/// A command that came to nothing.
public struct PumpCommandFailure: Sendable, Hashable, BitwiseCopyable {
  public enum Reason: Sendable, Hashable, BitwiseCopyable {
    /// No answer, so many times.
    case noAnswer(attempts: Int)
    case refused(PumpErrorTag)
    /// The connection went, or the pump fell silent, before it had answered.
    case contactLost
    /// The pump stopped, by its button or in a fault, before it had answered.
    case stopped
  }
  public let command: PumpCommand
  public let reason: Reason

  @_noLocks @_noAllocation
  init(_ command: PumpCommand, _ reason: Reason) {
    self.command = command
    self.reason = reason
  }
}

/// The machine's answer to one event.
public struct PumpOperatorAction: Sendable, Hashable, BitwiseCopyable {
  /// What to send now, or `nil` if there is nothing.
  public var command: PumpCommand?
  /// How often, at once: more than 1 only when no tick follows.
  public var copies: Int
  /// Try to connect.
  public var connects: Bool
  public var verdict: PumpVerdict
  /// An earlier command that has now come to nothing.
  public var failure: PumpCommandFailure?

  @_noLocks @_noAllocation
  init() {
    command = nil
    copies = 1
    connects = false
    verdict = .accepted
    failure = nil
  }
}
