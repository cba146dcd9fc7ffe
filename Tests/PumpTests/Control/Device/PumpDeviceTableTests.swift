import Tactus
import TestSupport
import Testing

@testable import Pump

private enum Row: String, CaseIterable {
  case fresh, off, exhausted, on, runLimit, runLimitDone, overheatDone, sensorDone, output, stoppedPending, stopped
  case shutDownPending, shutDown

  var history: [PumpDeviceEvent] {
    let fine: [PumpDeviceEvent] = [.offConfirmed, .temperatures(water: .celsius(12), skin: .celsius(34))]
    return switch self {
    case .fresh: []
    case .off, .exhausted: fine
    case .on, .runLimit, .runLimitDone: fine + [.command(.on)]
    case .overheatDone: fine + [.temperatures(water: .celsius(12), skin: .celsius(40.1)), .offConfirmed]
    case .sensorDone: fine + [.temperatures(water: .celsius(-77.5), skin: .celsius(34)), .offConfirmed]
    case .output: fine + [.command(.on), .outputFailed]
    case .stoppedPending: fine + [.command(.on), .emergencyStop]
    case .stopped: fine + [.command(.on), .emergencyStop, .offConfirmed]
    case .shutDownPending: fine + [.command(.on), .shutdown]
    case .shutDown: fine + [.command(.on), .shutdown, .offConfirmed]
    }
  }

  var machine: PumpDeviceMachine {
    var machine = PumpDeviceMachine(try! PumpDeviceSettings(rest: .seconds(300), pot: .whenMoved))
    for event in history { _ = machine.step(event, at: .seconds(99)) }
    if [.exhausted, .runLimit, .runLimitDone].contains(self) {
      machine.governor.claim(atLeast: .seconds(1_800), at: .seconds(99))
    }
    if [.runLimit, .runLimitDone].contains(self) { _ = machine.step(.tick, at: .seconds(99)) }
    if self == .runLimitDone { _ = machine.step(.offConfirmed, at: .seconds(99)) }
    // The button is held and has not settled yet; the pot stands in the middle.
    _ = machine.step(.pot(counts: 500), at: .seconds(99))
    _ = machine.step(.button(isPressed: true), at: .seconds(99.8))
    return machine
  }
}

private let columns: [(String, PumpDeviceEvent)] = [
  ("ON", .command(.on)), ("OFF", .command(.off)), ("SPEED", .command(.speed(PumpSpeed(duty: 77)))),
  ("STATUS", .command(.status)), ("TEMP", .command(.temperature)), ("empty", .invalidCommand(.empty)),
  ("tooLong", .invalidCommand(.tooLong(count: 64))), ("unknown", .invalidCommand(.unknownCommand(at: 0))),
  ("badNumber", .invalidCommand(.malformed(at: 6))), ("tooFast", .invalidCommand(.outOfRange(at: 6))),
  ("press", .button(isPressed: true)), ("release", .button(isPressed: false)), ("potMoved", .pot(counts: 900)),
  ("potStill", .pot(counts: 510)), ("cool", .temperatures(water: .celsius(12), skin: .celsius(33))),
  ("hot", .temperatures(water: .celsius(12), skin: .celsius(40.1))),
  ("open", .temperatures(water: .celsius(12), skin: .celsius(-77.5))),
  ("short", .temperatures(water: .celsius(352.4), skin: .celsius(34))),
  ("unread", .temperatures(water: .unknown, skin: .unknown)),
  ("none", .temperatures(water: .absent, skin: .absent)), ("emergencyStop", .emergencyStop), ("reset", .reset),
  ("settings", .settings(try! PumpDeviceSettings(runLimit: .seconds(60)))), ("tick", .tick),
  ("offConfirmed", .offConfirmed), ("outputFailed", .outputFailed),
  ("missed", .missed(releases: 4)), ("externalStop", .externalStop), ("shutdown", .shutdown),
]

private func words(_ state: PumpDeviceState) -> String {
  switch state {
  case .off(let off): "off\(words(off))"
  case .on(let speed): "on:\(speed.duty)"
  case .error(let cause, let off):
    switch cause {
    case .runLimit: "error:run-limit\(words(off))"
    case .overheat(let temperature): "error:overheat:\(temperature.tenths)\(words(off))"
    case .sensor(let sensor, let temperature):
      "error:\(sensor)\(temperature.map { ":\($0.tenths)" } ?? "")\(words(off))"
    case .silence: "error:silence\(words(off))"
    case .output: "error:output\(words(off))"
    case .missedReleases: "error:missed\(words(off))"
    case .externalStop: "error:external\(words(off))"
    }
  case .emergencyStopped(let off): "stopped\(words(off))"
  case .shutDown(let off): "down\(words(off))"
  }
}

private func words(_ action: PumpDeviceAction) -> String {
  var parts: [String] = []
  switch action.output {
  case .none: break
  case .off: parts.append("off")
  case .run(let speed): parts.append("run:\(speed.duty)")
  }
  for index in 0..<action.replies.count { parts.append(text(action.replies[index])) }
  if let refusal = action.refusal { parts.append("refused:\(String(reflecting: refusal).suffix(after: "."))") }
  return parts.isEmpty ? "-" : parts.joined(separator: " | ")
}

private func text(_ reply: PumpReply) -> String {
  var bytes = [UInt8](repeating: 0, count: PumpReply.maximumEncodedLength)
  let count = bytes.withUnsafeMutableBytes { reply.encode(into: $0) }
  return String(decoding: bytes[..<(count - 2)], as: UTF8.self)
}

@Suite(.ownThread) struct PumpDeviceTableTests {
  @Test("device, every state: every event, the state, output and lines of the table")
  func everyPair() throws {
    var lines: [String] = []
    for row in Row.allCases {
      let before = row.machine
      lines.append("\(row.rawValue): \(words(before.state))")
      for (name, event) in columns {
        var machine = before
        let action = machine.step(event, at: .seconds(99.9))
        lines.append("  " + padded([name, words(machine.state), words(action)], [14, 24]))
        #expect(
          name == "press" || name == "release" || machine.nextDeadline.map { $0 <= .seconds(99.85) } ?? true
            || machine.nextDeadline! > .seconds(99.9))
      }
    }
    try expectGolden(lines, "PumpDeviceTable.txt")
  }
}
