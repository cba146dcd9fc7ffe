import Wire

/// What the motors must get now.
public enum MotorOutput: Sendable, Hashable, BitwiseCopyable {
  case none
  case drive(WheelSpeeds)
  case stop
}

/// Why an input did nothing to the motors.
public enum IgnoreReason: Sendable, Hashable, BitwiseCopyable, CaseIterable {
  /// Another source owns control.
  case notController
  /// The sender's timestamp is before the newest one accepted from it.
  case older
  /// The sender's timestamp is the newest one accepted from it: the same datagram again.
  case duplicate
  /// The sender's timestamp is more than a second ahead of the newest one accepted from it and the time since.
  case ahead
  case emergencyStopped
  case inFault
  /// Someone else stopped the robot, or a reset was asked for, while a stick is held: bring it to zero first.
  case stickNotAtZero
  /// The board has not taken the stop yet, so a reset would forget a motor that may still turn.
  case stopNotConfirmed
  /// A reset, but neither e-stopped nor in fault.
  case nothingToReset
  /// A speed is NaN or infinite.
  case notFinite
  case shutDown
  /// A confirmation or failure of an output that is no longer in force.
  case outOfPlace
  /// It waited in the daemon for longer than `RobotRequest.patience` before the loop could take it.
  case stale

  /// Place in a table of counters, 0…12.
  var index: Int {
    @_noLocks @_noAllocation get {
      switch self {
      case .notController: 0
      case .older: 1
      case .duplicate: 2
      case .emergencyStopped: 3
      case .inFault: 4
      case .stickNotAtZero: 5
      case .stopNotConfirmed: 6
      case .nothingToReset: 7
      case .notFinite: 8
      case .shutDown: 9
      case .outOfPlace: 10
      case .stale: 11
      case .ahead: 12
      }
    }
  }
}

public enum Verdict: Sendable, Hashable, BitwiseCopyable {
  case accepted
  case ignored(IgnoreReason)
}

/// The machine's answer to one event.
public struct RobotAction: Sendable, Hashable, BitwiseCopyable {
  public var output: MotorOutput
  public var verdict: Verdict

  @_noLocks @_noAllocation
  init(_ output: MotorOutput, _ verdict: Verdict = .accepted) {
    self.output = output
    self.verdict = verdict
  }

  @_noLocks @_noAllocation
  static func ignored(_ reason: IgnoreReason) -> RobotAction { RobotAction(.none, .ignored(reason)) }
}
