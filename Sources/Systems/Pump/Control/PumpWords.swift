import Tactus

// Texts for people.

extension PumpOperatorState: CustomStringConvertible {
  /// A description in one line, for example `on` or `fault: pumped for as long as it may without a rest (off not yet confirmed)`.
  public var description: String {
    switch self {
    case .unknown: "unknown"
    case .off(let off): "off\(off.suffix)"
    case .starting: "starting"
    case .on: "on"
    case .fault(let fault, let off): "fault: \(fault)\(off.suffix)"
    case .emergencyStopped(let off): "emergency stop\(off.suffix)"
    case .shutDown(let off): "shut down\(off.suffix)"
    }
  }

  /// The action by which a person can make the pump usable again, or `nil` if it is usable.
  public var wayOut: String? {
    switch self {
    case .unknown: "wait for its next report; if none comes, check its power and the connection"
    case .off(.confirmed), .starting, .on: nil
    case .off(.pending): "the OFF is repeated until the pump confirms it"
    case .fault(_, .pending), .emergencyStopped(.pending):
      "the pump has not confirmed the off: check its power and the connection, then reset"
    case .fault(.runLimit, .confirmed): "let it rest, or reset"
    case .fault(.overheat, .confirmed): "let the skin cool down, then reset"
    case .fault(.sensor, .confirmed): "check the sensor and its wires, then reset"
    case .fault, .emergencyStopped: "remove the cause, then reset"
    case .shutDown: "start the daemon again"
    }
  }
}

extension PumpFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .runLimit: "pumped for as long as it may without a rest"
    case .safetyShutoff: "the pump has stopped at its own limit"
    case .overheat(let temperature?): "skin too warm, \(temperature)"
    case .overheat(nil): "skin too warm"
    case .sensor(let sensor?, let temperature?): "the \(sensor) sensor reads \(temperature)\(temperature.circuit)"
    case .sensor: "the pump says that a sensor of its is faulty"
    case .startFailed: "the pump does not start"
    case .pumpError: "the pump is in its error state"
    case .missedReleases(let count): "the loop missed \(count) releases in a row"
    case .externalStop: "stopped from outside, because the program or a loop of it hung"
    }
  }

  /// A short name for programs that stays the same from release to release.
  public var name: String {
    switch self {
    case .runLimit: "run-limit"
    case .safetyShutoff: "safety-shutoff"
    case .overheat: "overheat"
    case .sensor: "sensor-fault"
    case .startFailed: "start-failed"
    case .pumpError: "pump-error"
    case .missedReleases: "missed-releases"
    case .externalStop: "external-stop"
    }
  }
}

extension PumpContact: CustomStringConvertible {
  public var description: String {
    switch self {
    case .down: "no connection"
    case .waiting: "connected, nothing heard yet"
    case .answering: "answering"
    case .silent: "connected, but the pump does not answer"
    }
  }
}

extension PumpContact {
  /// A short name for programs that stays the same from release to release.
  public var name: String {
    switch self {
    case .down: "down"
    case .waiting: "waiting"
    case .answering: "answering"
    case .silent: "silent"
    }
  }

  public static let names = ["down", "waiting", "answering", "silent"]
}

extension PumpDeviceState: CustomStringConvertible {
  public var description: String {
    switch self {
    case .off(let off): "off\(off.suffix)"
    case .on(let speed): "on, \(speed.percent) %"
    case .error(let cause, let off): "error: \(cause)\(off.suffix)"
    case .emergencyStopped(let off): "emergency stop\(off.suffix)"
    case .shutDown(let off): "shut down\(off.suffix)"
    }
  }
}

extension PumpDeviceError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .runLimit: "maximum runtime exceeded"
    case .overheat(let temperature): "skin too warm, \(temperature)"
    case .sensor(let sensor, let temperature?): "the \(sensor) sensor reads \(temperature)\(temperature.circuit)"
    case .sensor(let sensor, nil): "the \(sensor) sensor cannot be read"
    case .silence: "no command for the silence limit"
    case .output: "the motor's output does not take what it is told"
    case .missedReleases(let count): "the loop missed \(count) releases in a row"
    case .externalStop: "stopped from outside, because the program or a loop of it hung"
    }
  }
}

extension PumpDeviceState {
  /// The action by which a person can make the pump usable again, or `nil` if it is usable.
  public var wayOut: String? {
    switch self {
    case .off(.confirmed), .on: nil
    case .off(.pending), .error(_, .pending), .emergencyStopped(.pending):
      "the motor's output does not take the off: check it, then reset"
    case .error(.runLimit, .confirmed): "let it rest; OFF, the button or a reset leads out"
    case .error(.overheat, .confirmed): "let the skin cool down, then reset"
    case .error(.sensor, .confirmed): "check the sensor and its wires, then reset"
    case .error(.silence, .confirmed): "OFF, the button or a reset leads out"
    case .error, .emergencyStopped: "remove the cause, then reset"
    case .shutDown: "start the daemon again"
    }
  }

  /// Whether the off is confirmed, or `nil` if the state is not one in which the pump must be off.
  public var off: Confirmation? {
    switch self {
    case .on: nil
    case .off(let off), .error(_, let off), .emergencyStopped(let off), .shutDown(let off): off
    }
  }
}

extension PumpDeviceError {
  /// A short name for programs that stays the same from release to release.
  public var name: String {
    switch self {
    case .runLimit: "run-limit"
    case .overheat: "overheat"
    case .sensor: "sensor-fault"
    case .silence: "silence"
    case .output: "output-fault"
    case .missedReleases: "missed-releases"
    case .externalStop: "external-stop"
    }
  }
}

extension PumpCommandFailure: CustomStringConvertible {
  public var description: String {
    switch reason {
    case .noAnswer(let attempts): "\(command): no answer, sent \(attempts) times"
    case .refused(let tag): "\(command): refused, \(tag)"
    case .contactLost: "\(command): the connection was lost before the pump had answered"
    case .stopped: "\(command): the pump stopped before it had answered"
    }
  }
}

extension PumpIgnoreReason: CustomStringConvertible {
  public var description: String {
    switch self {
    case .noContact: "the pump does not answer"
    case .stateUnknown: "the pump has not said yet what it does"
    case .alreadyOn: "it is on"
    case .notRunning: "it does not run"
    case .inFault: "it is in a fault"
    case .emergencyStopped: "an emergency stop is in force"
    case .mustRest: "it has pumped for as long as it may: let it rest, or reset"
    case .beyondLimit: "that is longer than it may still pump"
    case .offNotConfirmed: "the pump has not confirmed the off"
    case .causePersists: "what caused the fault is still there"
    case .noReadingYet: "it has told no temperature since it stopped: wait for its next reading"
    case .nothingToReset: "there is nothing to reset"
    case .notUnderstood: "the line is none"
    case .shutDown: "the daemon is going down"
    }
  }
}

extension Confirmation {
  fileprivate var suffix: String {
    switch self {
    case .pending: " (off not yet confirmed)"
    case .confirmed: ""
    }
  }
}

extension PumpReading {
  /// The measured temperature as shown to people and programs, or `nil` if there is no sensor, it could not be read, or its reading is outside
  /// `PumpPlausibility.standard`: an open sensor reads −77.4 °C, a shorted one 352.0 °C.
  public var measured: PumpTemperature? { temperature.flatMap { PumpPlausibility.standard.allows($0) ? $0 : nil } }

  /// The reason why a sensor that exists has no valid reading, for example `reads -77.4 °C: an open circuit`; `nil` if the reading is valid or there
  /// is no sensor.
  public var trouble: String? {
    switch self {
    case .absent: nil
    case .unknown: "cannot be read"
    case .value(let temperature): measured == nil ? "reads \(temperature)\(temperature.circuit)" : nil
    }
  }
}

extension PumpTemperature {
  /// The kind of wiring fault that explains a temperature no intact thermistor reads; empty if there is none.
  fileprivate var circuit: String {
    tenths < -600 ? ": an open circuit" : tenths > 3_000 ? ": a short circuit" : ""
  }
}
