import Wire

/// A line from the pump to its operator, in either dialect.
public enum PumpReply: Sendable, Hashable, BitwiseCopyable {
  /// The pump has accepted a command.
  case ok
  /// The pump's state after ON or OFF.
  case pump(isOn: Bool)
  case speed(PumpSpeed)
  case status(PumpStatus)
  case temperatures(PumpTemperatures)
  /// The button at the pump was pressed.
  case manual(isOn: Bool)
  case error(PumpErrorTag)
  /// A line for people that follows an error.
  case remark(PumpRemark)
}

/// The tag that follows `ERROR:`.
public enum PumpErrorTag: Sendable, Hashable, BitwiseCopyable {
  case safetyShutoff
  case overheat
  /// A sensor's reading is implausible; not part of the original firmware.
  case sensorFault
  case startFailed
  case notRunning
  case invalidSpeed
  case unknownCommand
  case commandTooLong
  /// The first 32 characters of any other tag.
  case other(ShortText)
}

/// One of the firmware's two remarks.
public enum PumpRemark: Sendable, Hashable, BitwiseCopyable {
  /// The remark `Maximum runtime exceeded`.
  case maximumRuntime
  /// The remark `Skin temperature too high: 41.5`, with the temperature.
  case skinTooHot(PumpReading)
}
