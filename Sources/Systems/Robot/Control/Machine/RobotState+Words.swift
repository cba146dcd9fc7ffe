// The state, its cause and the remedy in words, for operators.

extension RobotState: CustomStringConvertible {
  /// The state in one line: `driving by 192.168.1.20:50000`, `fault: the bus is stuck (1 failed write)`.
  public var description: String {
    switch self {
    case .stopped(let standstill): "stopped: \(standstill.reason)\(standstill.confirmation.suffix)"
    case .driving(let control):
      "driving by \(control.holder.source)\(control.forwardStop.map { "; no forward motion: \($0)" } ?? "")"
        + "\(control.batteryStop.map { "; slowing down: the battery is at \($0) %" } ?? "")"
    case .emergencyStopped(let stop):
      "emergency stop by \(stop.by)\(stop.fault.map { "; fault: \($0)" } ?? "")\(stop.confirmation.suffix)"
    case .fault(let fault): "fault: \(fault.cause)\(fault.confirmation.suffix)"
    case .shutDown(let confirmation): "shut down\(confirmation.suffix)"
    }
  }

  /// The action that makes the robot drivable again, or `nil` if the robot can be driven already.
  public var wayOut: String? {
    switch self {
    case .stopped(let standstill):
      switch (standstill.reason, standstill.holder) {
      case (.batteryEmpty, _): "charge the battery, then bring every stick to zero, or send a stop"
      case (.externalStop, _): "bring every stick to zero, or send a stop"
      case (.stoppedBy, let holder?):
        "\(holder.source) must bring its stick to zero, or be silent for the failsafe timeout"
      default: nil
      }
    case .driving(let control) where control.batteryStop != nil: "charge the battery"
    case .driving(let control):
      switch control.forwardStop {
      case .obstacle: "turn or drive backward; forward again once the way is clear and the stick was brought back"
      case .distanceUnknown:
        "turn or drive backward; check the distance sensor, and bring the stick back before driving forward again"
      case nil: nil
      }
    case .emergencyStopped(let stop):
      stop.confirmation == .confirmed
        ? "let go of every stick for a second, then reset"
        : "the motors have not confirmed the stop: check their power and wiring, then reset"
    case .fault(let fault):
      fault.confirmation == .confirmed && fault.cause.isTilt
        ? "set the robot upright, let go of every stick for a second, then reset"
        : fault.confirmation == .confirmed
          ? "remove the cause, let go of every stick for a second, then reset"
          : "the motors have not confirmed the stop: check their power and wiring, then reset"
    case .shutDown: "start the daemon again"
    }
  }
}

extension StopReason: CustomStringConvertible {
  public var description: String {
    switch self {
    case .start: "nothing commanded yet"
    case .commanded: "commanded"
    case .silence: "the controlling source went silent"
    case .stoppedBy(let source): "by \(source)"
    case .externalStop: "from outside, because the program ended, or it or a loop of it hung"
    case .batteryEmpty(let percent): "the battery is at \(percent) %"
    case .reset(let source): "reset by \(source)"
    }
  }
}

extension ForwardStop: CustomStringConvertible {
  public var description: String {
    switch self {
    case .obstacle(let millimetres): "an obstacle at \(millimetres) mm"
    case .distanceUnknown: "the distance ahead is not known"
    }
  }
}

extension RobotFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .motorWrites(let failure, let failures):
      "\(failure), \(failures) failed write\(failures == 1 ? "" : "s") in a row"
    case .tilted(let degrees): "the robot leans by \(degrees) degrees"
    case .missedReleases(let count): "the control loop missed \(count) releases in a row"
    }
  }
}

extension RobotFault {
  fileprivate var isTilt: Bool { if case .tilted = self { true } else { false } }
}

extension StopConfirmation {
  fileprivate var suffix: String {
    switch self {
    case .confirmed: ""
    case .pending(failures: 0): " (stop not yet confirmed by the motors)"
    case .pending(let failures): " (stop not confirmed by the motors, \(failures) failed)"
    }
  }
}
