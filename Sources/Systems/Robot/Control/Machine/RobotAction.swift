import Wire

/// The output for the motors at this instant.
public enum MotorOutput: Sendable, Hashable, BitwiseCopyable {
  case none
  case drive(WheelSpeeds)
  case stop
}

/// The reason why an input was ignored.
public enum IgnoreReason: String, Sendable, Hashable, BitwiseCopyable, CaseIterable {
  /// Another source owns control.
  case notController
  /// The sender's timestamp is older than the newest one accepted from this sender.
  case older
  /// The sender's timestamp equals the newest one accepted from this sender, so the datagram is a repetition.
  case duplicate
  /// The sender's timestamp is more than a second ahead of the newest one accepted plus the time since then.
  case ahead
  case emergencyStopped
  case inFault
  /// A stick is held although another source stopped the robot or a reset was requested; the stick must come to zero first.
  case stickNotAtZero
  /// The board has not confirmed the stop yet, so a reset might be given to a motor that still turns.
  case stopNotConfirmed
  /// A reset was requested but the robot is in neither an e-stop nor a fault.
  case nothingToReset
  /// A speed is not a finite number, or a part of a motion in SI units is beyond the limits of a twist.
  case notFinite
  case shutDown
  /// The confirmation or failure concerns an output that is no longer in force.
  case outOfPlace
  /// The request waited longer than its mailbox allows before the loop could read it.
  case stale
  /// A motion in SI units was asked for, but the settings have no geometry of the robot.
  case noGeometry
  /// The battery is empty, and nothing drives until it is charged.
  case batteryEmpty
  /// A reset was requested while the robot still leans too far.
  case tilted
  /// The board turns no camera mount.
  case noPanTilt
  /// The board has no lights.
  case noLights
  /// The board has no buzzer.
  case noBuzzer
  /// The board cannot raise its body.
  case noHeight
  /// The board does not level its body.
  case noBalance
  /// An angle is beyond the limits of the camera mount, or another number is out of its range.
  case beyondLimits

  /// The index in a table of counters, 0…21.
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
      case .noGeometry: 13
      case .batteryEmpty: 14
      case .tilted: 15
      case .noPanTilt: 16
      case .noLights: 17
      case .noBuzzer: 18
      case .noHeight: 19
      case .noBalance: 20
      case .beyondLimits: 21
      }
    }
  }
}

public enum Verdict: Sendable, Hashable, BitwiseCopyable {
  case accepted
  case ignored(IgnoreReason)
}

/// The machine's response to one event.
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
