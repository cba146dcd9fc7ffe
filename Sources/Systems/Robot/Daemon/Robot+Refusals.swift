import Robot
import TactusDaemon

// The module of the control does not depend on the daemon, so the conformances are declared here.
// swift-format-ignore: AvoidRetroactiveConformances
extension IgnoreReason: @retroactive Plain, @retroactive PlainChoice, @retroactive Word, @retroactive RefusalWord {
  public var code: String {
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
    case .noGeometry: "NO_GEOMETRY"
    case .batteryEmpty: "BATTERY_EMPTY"
    case .tilted: "TILTED"
    case .noPanTilt: "NO_PAN_TILT"
    case .noLights: "NO_LIGHTS"
    case .noBuzzer: "NO_BUZZER"
    case .noHeight: "NO_HEIGHT"
    case .noBalance: "NO_BALANCE"
    case .beyondLimits: "BEYOND_LIMITS"
    }
  }

  /// The reason in words, with the remedy where the robot's state does not give one.
  public var sentence: String {
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
    case .notFinite: "a speed is not a finite number, or beyond 100 m/s or rad/s"
    case .shutDown: "the daemon is shutting down"
    case .outOfPlace: "not now"
    case .stale: "the command waited more than 250 ms for the robot's loop; send it again"
    case .batteryEmpty: "the battery is at motors.battery_stop_percent or below"
    case .tilted: "the robot leans by more than motors.tilt_stop_deg, or by more than 45 degrees if that is not given"
    case .noPanTilt: "the board turns no camera mount (pan-tilt)"
    case .noLights: "the board has no lights"
    case .noBuzzer: "the board has no buzzer"
    case .noHeight: "the board cannot change the height of its body"
    case .noBalance: "the board does not balance its body"
    case .beyondLimits: "an angle is beyond the limits of the camera mount"
    case .noGeometry:
      "linear and angular need motors.wheel_base_m and motors.top_speed_m_per_s in the file, which the robot is not given; or drive in percent"
    }
  }
}

extension Robot {
  public static func explain(_ refusal: IgnoreReason, _ state: RobotSnapshot) -> String {
    let fittings = state.fittings
    switch refusal {
    case .noPanTilt, .noLights, .noBuzzer, .noHeight, .noBalance:
      let can = fittings.board.abilities.map(\.rawValue).joined(separator: ", ")
      return "\(refusal.sentence): it is a \(fittings.board.rawValue), which has: \(can)"
    case .beyondLimits:
      func range(_ limits: CameraMountSettings.Limits) -> String { "\(limits.lowest)…\(limits.highest)" }
      return "\(refusal.sentence): pan \(range(fittings.mount.pan)), tilt \(range(fittings.mount.tilt)) degrees"
    default: break
    }
    return state.state.wayOut.map { "\(refusal.sentence); \($0)" } ?? refusal.sentence
  }
}
