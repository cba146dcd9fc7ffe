import Wire

/// A line from the pump to its operator, in either dialect.
public enum PumpReply: Sendable, Hashable, BitwiseCopyable {
  /// A command was taken.
  case ok
  /// The pump's state after ON or OFF.
  case pump(isOn: Bool)
  case speed(PumpSpeed)
  case status(PumpStatus)
  case temperatures(PumpTemperatures)
  /// Somebody pressed the pump's own button.
  case manual(isOn: Bool)
  case error(PumpErrorTag)
  /// A line for people that follows an error.
  case remark(PumpRemark)
}

/// What follows `ERROR:`.
public enum PumpErrorTag: Sendable, Hashable, BitwiseCopyable {
  case safetyShutoff
  case overheat
  /// Not of the original firmware: a sensor reads what cannot be.
  case sensorFault
  case startFailed
  case notRunning
  case invalidSpeed
  case unknownCommand
  case commandTooLong
  /// Any other tag: its first 32 characters.
  case other(ShortText)
}

/// The two sentences of the firmware.
public enum PumpRemark: Sendable, Hashable, BitwiseCopyable {
  /// `Maximum runtime exceeded`
  case maximumRuntime
  /// `Skin temperature too high: 41.5`
  case skinTooHot(PumpReading)
}
