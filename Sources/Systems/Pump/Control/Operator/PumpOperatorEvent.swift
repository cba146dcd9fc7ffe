import Tactus

/// An event that the operator side's machine processes.
public enum PumpOperatorEvent: Sendable, Hashable, BitwiseCopyable {
  /// An order of a client inside the daemon. After a `quit`, ticks go on until the off is confirmed.
  case order(PumpOrder)
  /// The connection has been established.
  case linked
  case unlinked
  /// New settings, valid from now on; a limit that is already exceeded ends the run.
  case settings(PumpOperatorSettings)
  /// A line from the pump.
  case reply(PumpReply)
  /// A line that could not be decoded.
  case invalidLine
  /// A periodic release, or the release at `nextDeadline`.
  case tick
  /// The number of consecutive periodic releases that the runtime has skipped or that finished too late.
  case missed(releases: Int64)
  /// An OFF has been sent to the pump from outside the loop.
  case externalStop
  /// The runtime is stopping: no tick follows.
  case shutdown

  /// Whether the event commands the pump. If a command replaces an earlier one, the earlier one has not failed.
  var isCommand: Bool {
    @_noLocks @_noAllocation get {
      switch self {
      case .order(.readTemperatures), .order(.watched), .order(.query): false
      case .order, .shutdown: true
      case .linked, .unlinked, .settings, .reply, .invalidLine, .tick, .missed, .externalStop: false
      }
    }
  }
}

/// The reason why an event had no effect.
public enum PumpIgnoreReason: String, Sendable, Hashable, BitwiseCopyable, CaseIterable {
  /// There is no connection, or no reply arrives on it.
  case noContact
  /// The pump has not reported its state yet.
  case stateUnknown
  case alreadyOn
  case notRunning
  case inFault
  case emergencyStopped
  /// The pump has reached its run limit and must rest or be reset.
  case mustRest
  /// The pump was asked to run for longer than is left of its run limit.
  case beyondLimit
  /// The pump has not confirmed the off.
  case offNotConfirmed
  /// The reset was refused because the cause of the fault persists.
  case causePersists
  /// The reset was refused because the pump has reported no temperature since it stopped by itself.
  case noReadingYet
  case nothingToReset
  /// The line is not a valid command.
  case notUnderstood
  case shutDown
}

/// A command that failed after it had been accepted.
public struct PumpCommandFailure: Sendable, Hashable, BitwiseCopyable {
  public enum Reason: Sendable, Hashable, BitwiseCopyable {
    /// No reply has arrived after this number of attempts.
    case noAnswer(attempts: Int)
    case refused(PumpErrorTag)
    /// The connection was lost, or the pump fell silent, before it had replied.
    case contactLost
    /// The pump stopped because of its button or a fault before it had replied.
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

/// The machine's response to one event.
public struct PumpOperatorAction: Sendable, BitwiseCopyable {
  /// The command to send now, or `nil` if nothing is to be sent.
  public var command: PumpCommand?
  /// The number of times to send the command at once, which is more than 1 only if no tick follows.
  public var copies: Int
  /// Whether to try to connect.
  public var connects: Bool
  public var verdict: PumpVerdict
  /// An earlier command that has failed now.
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
