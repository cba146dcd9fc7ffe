// Texts for people.

extension PumpTemperature: CustomStringConvertible {
  /// The temperature with its unit, for example `34.5 °C`.
  public var description: String {
    "\(tenths < 0 ? "-" : "")\(tenths.magnitude / 10).\(tenths.magnitude % 10) °C"
  }
}

extension PumpCommand: CustomStringConvertible {
  /// The command as it is sent, for example `SPEED:180`.
  public var description: String {
    switch self {
    case .on: "ON"
    case .off: "OFF"
    case .speed(let speed): "SPEED:\(speed.duty)"
    case .status: "STATUS"
    case .temperature: "TEMP"
    }
  }
}

extension PumpErrorTag: CustomStringConvertible {
  /// The tag as it is sent.
  public var description: String {
    switch self {
    case .safetyShutoff: "SAFETY_SHUTOFF"
    case .overheat: "OVERHEAT"
    case .sensorFault: "SENSOR_FAULT"
    case .startFailed: "PUMP_START_FAILED"
    case .notRunning: "PUMP_NOT_RUNNING"
    case .invalidSpeed: "INVALID_SPEED_VALUE"
    case .unknownCommand: "UNKNOWN_COMMAND"
    case .commandTooLong: "CMD_TOO_LONG"
    case .other(let text): "\(text)"
    }
  }
}
