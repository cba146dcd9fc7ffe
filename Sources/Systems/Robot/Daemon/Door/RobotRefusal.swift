import Robot
import Service

extension IgnoreReason {
  /// The refusal of a request as the API says it; `robot` is the state that the loop answered with.
  func error(in robot: RobotState) -> APIError {
    let text = robot.wayOut.map { "\(sentence); \($0)" } ?? sentence
    return .conflict(code, text)
  }

  /// Stays the same from release to release.
  var code: String {
    switch self {
    case .notController: "NOT_IN_CONTROL"
    case .older: "OLDER"
    case .duplicate: "DUPLICATE"
    case .ahead: "AHEAD"
    case .emergencyStopped: "EMERGENCY_STOPPED"
    case .inFault: "IN_FAULT"
    case .stickNotAtZero: "STICK_NOT_AT_ZERO"
    case .stopNotConfirmed: "STOP_NOT_CONFIRMED"
    case .nothingToReset: "NOTHING_TO_RESET"
    case .notFinite: "NOT_FINITE"
    case .shutDown: "SHUT_DOWN"
    case .outOfPlace: "OUT_OF_PLACE"
    case .stale: "STALE"
    }
  }

  /// Says the way out where the robot's state does not.
  private var sentence: String {
    switch self {
    case .notController: "another source controls the robot until it has been silent for the failsafe timeout"
    case .older: "the timestamp is before the newest one accepted from this client; send the time of sending"
    case .ahead:
      "the timestamp is more than a second ahead of the newest one accepted from this client; send the time of sending"
    case .duplicate: "the timestamp is that of the last command; send a new one with every command"
    case .emergencyStopped: "the robot is emergency-stopped"
    case .inFault: "the robot is in fault"
    case .stickNotAtZero: "a stick is held: send zero speeds, or nothing for the failsafe timeout, first"
    case .stopNotConfirmed: "the motors have not confirmed their stop"
    case .nothingToReset: "the robot is neither emergency-stopped nor in fault"
    case .notFinite: "a speed is not a finite number"
    case .shutDown: "the daemon is shutting down"
    case .outOfPlace: "not now"
    case .stale: "the command waited more than \(RobotRequest.patience) for the robot's loop; send it again"
    }
  }
}

extension RobotAnswer {
  /// Throws the refusal when the loop refused.
  func accepted() throws(APIError) -> RobotAnswer {
    if case .ignored(let reason) = verdict { throw reason.error(in: state) }
    return self
  }
}
