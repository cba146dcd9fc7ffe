import Tactus
import Testing

@testable import Leg

/// A machine driven by events at instants in milliseconds since the start.
struct Timeline {
  var machine: LegMachine

  init(_ settings: LegSettings = .standard) {
    machine = LegMachine(settings)
    _ = machine.step(.offConfirmed, at: .zero)
  }

  var state: LegState { machine.state }
  var deadline: TickInstant? { machine.nextDeadline }

  @discardableResult
  mutating func at(_ milliseconds: Int64, _ event: LegEvent) -> LegAction {
    machine.step(event, at: .milliseconds(milliseconds))
  }

  @discardableResult
  mutating func at(_ milliseconds: Int64, _ order: LegOrder) -> LegAction { at(milliseconds, .order(order)) }

  @discardableResult
  mutating func at(_ instant: TickInstant, _ event: LegEvent) -> LegAction { machine.step(event, at: instant) }

  @discardableResult
  mutating func arm(_ milliseconds: Int64) -> LegAction { at(milliseconds, .command(.arm)) }
  @discardableResult
  mutating func disarm(_ milliseconds: Int64) -> LegAction { at(milliseconds, .command(.disarm)) }
  @discardableResult
  mutating func set(_ milliseconds: Int64, _ microseconds: UInt16) -> LegAction {
    at(milliseconds, .command(.setServo(.microseconds(microseconds))))
  }
  @discardableResult
  mutating func ping(_ milliseconds: Int64) -> LegAction { at(milliseconds, .command(.ping)) }

  /// The telemetry of an instant: `armed none 50`.
  mutating func report(_ milliseconds: Int64) -> String {
    let telemetry = at(milliseconds, .report).telemetry!
    return "\(telemetry.state) \(telemetry.error) \(telemetry.lastCommandAgeMilliseconds)"
  }
}

extension LegAction {
  var pulse: UInt16? {
    if case .pulse(let pulse) = output { pulse.microseconds } else { nil }
  }
  var ignored: LegIgnoreReason? {
    if case .ignored(let reason) = verdict { reason } else { nil }
  }
}

extension LegState {
  var isArmed: Bool {
    if case .armed = self { true } else { false }
  }
  var fault: LegFault? {
    if case .fault(let cause, _) = self { cause } else { nil }
  }
}

extension TickInstant {
  static func milliseconds(_ count: Int64) -> TickInstant { .zero + .milliseconds(count) }
}
