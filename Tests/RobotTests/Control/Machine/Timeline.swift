import Tactus
import Testing
import Wire

@testable import Robot

/// A machine driven by events at instants in milliseconds since the start.
struct Timeline {
  var machine: RobotMachine

  init(_ settings: RobotSettings = .standard) { machine = RobotMachine(settings) }

  var state: RobotState { machine.state }

  @discardableResult
  mutating func at(_ milliseconds: Int64, _ event: RobotEvent) -> RobotAction {
    machine.step(event, at: .milliseconds(milliseconds))
  }

  @discardableResult
  mutating func at(_ instant: TickInstant, _ event: RobotEvent) -> RobotAction {
    machine.step(event, at: instant)
  }

  /// A drive command without a timestamp.
  @discardableResult
  mutating func drive(
    _ milliseconds: Int64, _ left: Double, _ right: Double, stamp: Double? = nil, from source: ControlSource = sourceA
  ) -> RobotAction {
    at(milliseconds, .command(.drive(speeds(left, right)), timestamp: stamp.map { .at($0) }, from: source))
  }

  @discardableResult
  mutating func stop(_ milliseconds: Int64, from source: ControlSource = sourceA) -> RobotAction {
    at(milliseconds, .command(.stop, from: source))
  }
}

extension RobotAction {
  /// The speeds to drive at, or nil when the output is not a drive.
  var drives: WheelSpeeds? {
    if case .drive(let speeds) = output { speeds } else { nil }
  }
  var ignored: IgnoreReason? {
    if case .ignored(let reason) = verdict { reason } else { nil }
  }
}

extension RobotState {
  var isDriving: Bool {
    if case .driving = self { true } else { false }
  }
  var stopReason: StopReason? {
    if case .stopped(let standstill) = self { standstill.reason } else { nil }
  }
  var faultCause: RobotFault? {
    if case .fault(let fault) = self { fault.cause } else { nil }
  }
}

extension RobotSettings {
  /// Without a ramp, so that outputs equal targets.
  static let unramped = try! RobotSettings(acceleration: 0)
}
