// Descriptions for operators, which are not part of the firmware build.

import Tactus

extension LegState: CustomStringConvertible {
  /// The state in one line: `armed, pulse 1500 µs`, `fault: no command within the deadman's time-out`.
  public var description: String {
    switch self {
    case .disarmed(let off): "disarmed\(off.suffix)"
    case .armed(.waiting(let off)): "armed, nothing set yet\(off.suffix)"
    case .armed(.pulse(let motion)): "armed, pulse \(motion.output)"
    case .armed(.released(let pulse, let off)): "armed, released at \(pulse)\(off.suffix)"
    case .fault(let cause, let off): "fault: \(cause)\(off.suffix)"
    case .emergencyStopped(let off): "emergency stop\(off.suffix)"
    case .shutDown(let off): "shut down\(off.suffix)"
    }
  }

  /// The action that makes the leg drivable again, or `nil` if the leg can be driven already.
  public var wayOut: String? {
    switch self {
    case .disarmed: "arm it"
    case .armed: nil
    case .fault: "remove the cause, then disarm and arm it"
    case .emergencyStopped(.confirmed): "reset, then arm it"
    case .emergencyStopped(.pending): "the chip has not confirmed the off: check its power and wiring, then reset"
    case .shutDown: "start the daemon again"
    }
  }
}

extension LegFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .silence: "no command within the deadman's time-out"
    case .linkLost: "the link is lost"
    case .lowBattery: "the battery is empty"
    case .output: "the servo's chip or its output-enable line fails"
    case .missedReleases(let count): "the loop missed \(count) releases in a row"
    case .externalStop: "stopped from outside, because the program or a loop of it hung"
    }
  }
}

extension Confirmation {
  fileprivate var suffix: String {
    switch self {
    case .pending: " (off not yet confirmed by the chip)"
    case .confirmed: ""
    }
  }
}

extension LegSettingsError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .deadmanTimeout(let value): "deadman time-out: expected 50 ms…10 s, got \(value)"
    case .travel(let lowest, let highest):
      "travel: expected 500 µs ≤ lowest < highest ≤ 2500 µs, got \(lowest) and \(highest)"
    case .slew(let value): "slew: expected 1…1000000 µs/s, got \(value)"
    case .releaseAfter(let value): "release after: expected 100 ms…1 h, got \(value)"
    case .battery(let limits): "battery: expected fault ≤ warning, got \(limits.fault) and \(limits.warning)"
    }
  }
}
