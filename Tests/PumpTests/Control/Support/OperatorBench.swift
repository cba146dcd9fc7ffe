import Tactus

@testable import Pump

/// The operator side's machine, stepped by hand, with what it sent.
struct OperatorBench {
  var machine: PumpOperatorMachine
  var sent: [String] = []
  var now = TickInstant.zero

  init(_ settings: PumpOperatorSettings = .standard) { machine = PumpOperatorMachine(settings) }

  @discardableResult
  mutating func at(_ seconds: Double, _ event: PumpOperatorEvent) -> PumpVerdict {
    now = .seconds(seconds)
    let action = machine.step(event, at: now)
    if let command = action.command { sent.append("\(seconds) \(command)") }
    return action.verdict
  }

  @discardableResult
  mutating func at(_ seconds: Double, _ order: PumpOrder) -> PumpVerdict { at(seconds, .order(order)) }

  mutating func hear(_ seconds: Double, _ replies: PumpReply...) {
    for reply in replies { at(seconds, .reply(reply)) }
  }

  /// Every deadline until then is met; the pump answers as `reply` says. What was sent.
  mutating func run(to seconds: Double, answering reply: (PumpCommand) -> [PumpReply] = { _ in [] }) {
    while let due = machine.nextDeadline, due <= .seconds(seconds) {
      now = due
      let action = machine.step(.tick, at: due)
      guard let command = action.command else { continue }
      sent.append("\(Double(due.nanoseconds) / 1e9) \(command)")
      for line in reply(command) { _ = machine.step(.reply(line), at: due) }
    }
    now = .seconds(seconds)
  }

  mutating func taken() -> [String] {
    defer { sent = [] }
    return sent
  }

  /// Off at 0 s; nothing in flight.
  static func off(_ settings: PumpOperatorSettings = .standard) -> OperatorBench {
    var bench = OperatorBench(settings)
    bench.at(0, .linked)
    bench.hear(0, .status(PumpStatus(state: .off)))
    _ = bench.taken()
    return bench
  }

  /// On at 1 s at the pump's own speed; nothing in flight.
  static func on(_ settings: PumpOperatorSettings = .standard) -> OperatorBench {
    var bench = off(settings)
    bench.at(1, .turnOn(nil))
    bench.hear(1, .ok, .pump(isOn: true), .status(PumpStatus(state: .on, percent: 70, runtimeMinutes: 0)))
    _ = bench.taken()
    return bench
  }
}

/// A pump that is on, or off, and does what it is told.
func obedient(isOn: Bool) -> (PumpCommand) -> [PumpReply] {
  { command in
    switch command {
    case .on: [.ok, .pump(isOn: true)]
    case .off: [.ok, .pump(isOn: false)]
    case .speed(let speed): [.ok, .speed(speed)]
    case .status: [.status(PumpStatus(state: isOn ? .on : .off, percent: isOn ? 70 : nil))]
    case .temperature: [.temperatures(PumpTemperatures())]
    }
  }
}
