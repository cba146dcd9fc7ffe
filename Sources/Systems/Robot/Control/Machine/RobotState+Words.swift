// What an operator reads: what the robot does, why, and what to do about it.

extension RobotState: CustomStringConvertible {
  /// One line: `driving by 192.168.1.20:50000`, `fault: the bus is stuck (1 failed write)`.
  public var description: String {
    switch self {
    case .stopped(let standstill): "stopped: \(standstill.reason)\(standstill.confirmation.suffix)"
    case .driving(let control): "driving by \(control.holder.source)"
    case .emergencyStopped(let stop):
      "emergency stop by \(stop.by)\(stop.fault.map { "; fault: \($0)" } ?? "")\(stop.confirmation.suffix)"
    case .fault(let fault): "fault: \(fault.cause)\(fault.confirmation.suffix)"
    case .shutDown(let confirmation): "shut down\(confirmation.suffix)"
    }
  }

  /// What makes the robot drivable again; nil when it is.
  public var wayOut: String? {
    switch self {
    case .stopped(let standstill):
      switch (standstill.reason, standstill.holder) {
      case (.externalStop, _): "bring every stick to zero, or send a stop"
      case (.stoppedBy, let holder?):
        "\(holder.source) must bring its stick to zero, or be silent for the failsafe timeout"
      default: nil
      }
    case .driving: nil
    case .emergencyStopped(let stop):
      stop.confirmation == .confirmed
        ? "release every stick, wait one failsafe timeout, then reset"
        : "the motors have not confirmed the stop: check their power and wiring, then reset"
    case .fault(let fault):
      fault.confirmation == .confirmed
        ? "remove the cause, release every stick, wait one failsafe timeout, then reset"
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
    case .reset(let source): "reset by \(source)"
    }
  }
}

extension RobotFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .motorWrites(let failure, let failures):
      "\(failure), \(failures) failed write\(failures == 1 ? "" : "s") in a row"
    case .missedReleases(let count): "the control loop missed \(count) releases in a row"
    }
  }
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
