import Wire

// Descriptions for operators, which are not part of the firmware build.

extension LegFrameError {
  /// A short name that stays the same from release to release, for counters and logs.
  public var name: String {
    switch self {
    case .noHeader: "no-header"
    case .wrongVersion: "wrong-version"
    case .notACommand: "not-a-command"
    case .notTelemetry: "not-telemetry"
    case .wrongPayloadLength: "wrong-payload-length"
    case .wrongLength: "wrong-length"
    case .unknownState: "unknown-state"
    }
  }
}

extension LegFrameError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .noHeader(let count): "\(name): expected at least 4 bytes, got \(count)"
    case .wrongVersion(let version): "\(name): expected 1, got \(version)"
    case .notACommand(let type): "\(name): expected type 1…4, got \(type)"
    case .notTelemetry(let type): "\(name): expected type 16, got \(type)"
    case .wrongPayloadLength(let type, let expected, let got):
      "\(name): expected \(expected) for type \(type), got \(got)"
    case .wrongLength(let type, let expected, let got):
      "\(name): expected \(expected) bytes for type \(type), got \(got)"
    case .unknownState(let state): "\(name): expected 0…2, got \(state)"
    }
  }
}

extension Millivolts: CustomStringConvertible {
  public var description: String { "\(count) mV" }
}

extension LegErrorCode: CustomStringConvertible {
  public var description: String {
    switch self {
    case .none: "none"
    case .deadmanTimeout: "deadman time-out"
    case .lowBattery: "low battery"
    case .i2cFault: "I2C fault"
    case .invalidCommand: "invalid command"
    case .unknown: "unknown"
    }
  }
}

extension LegTelemetry.State: CustomStringConvertible {
  public var description: String {
    switch self {
    case .disarmed: "disarmed"
    case .armed: "armed"
    case .fault: "fault"
    }
  }
}
