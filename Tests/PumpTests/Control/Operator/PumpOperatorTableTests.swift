import Tactus
import TestSupport
import Testing
import Wire

@testable import Pump

/// The rows of the table, and how to reach each by events.
private enum Row: String, CaseIterable {
  case down, waiting, answering, silent, offPending, off, offExhausted, starting, on, onSpeeding, faultPending
  case runLimit, overheatUnread, overheat, sensor, pumpError, stoppedPending, stopped, shutDownPending, shutDown

  var history: [PumpOperatorEvent] {
    let joined: [PumpOperatorEvent] = [.linked, .reply(.status(PumpStatus(state: .off)))]
    let running = joined + [.order(.turnOn(nil)), .reply(.ok), .reply(.pump(isOn: true)), .reply(status(.on))]
    return switch self {
    case .down: []
    case .waiting: [.linked]
    case .answering: [.linked, .reply(.ok), .reply(.status(PumpStatus()))]
    case .silent: running
    case .offPending: running + [.order(.turnOff)]
    case .off, .offExhausted: joined
    case .starting: joined + [.order(.turnOn(nil))]
    case .on: running
    case .onSpeeding: running + [.order(.setSpeed(PumpSpeed(duty: 100)))]
    case .faultPending, .runLimit: running
    case .overheatUnread: running + [.reply(.error(.overheat))]
    case .overheat:
      running + [.reply(.error(.overheat)), .reply(.temperatures(PumpTemperatures(skin: .celsius(39))))]
    case .sensor: joined + [.reply(.temperatures(PumpTemperatures(water: .celsius(-77))))]
    case .pumpError: joined + [.reply(.status(PumpStatus(state: .error)))]
    case .stoppedPending: running + [.order(.emergencyStop)]
    case .stopped:
      running + [
        .order(.emergencyStop), .reply(.pump(isOn: false)), .reply(.status(PumpStatus(state: .off))),
      ]
    case .shutDownPending: running + [.order(.quit)]
    case .shutDown: running + [.order(.quit), .reply(.pump(isOn: false))]
    }
  }

  private func status(_ state: PumpReportedState) -> PumpReply {
    .status(PumpStatus(state: state, percent: 70, runtimeMinutes: 0))
  }

  /// The machine in this state at 100 s, what it asked for answered unless the row says otherwise.
  var machine: PumpOperatorMachine {
    var machine = PumpOperatorMachine(.standard)
    var at = TickInstant.seconds(99)
    switch self {
    case .silent, .faultPending, .runLimit, .offExhausted: at = .seconds(10)
    default: break
    }
    for event in history { _ = machine.step(event, at: at) }
    switch self {
    case .silent:
      for second in 95...99 { _ = machine.step(.tick, at: .seconds(Double(second))) }
    case .faultPending, .runLimit, .offExhausted:
      machine.governor.claim(atLeast: .seconds(1_800), at: .seconds(99))
      if self != .offExhausted { _ = machine.step(.tick, at: .seconds(99)) }
      if self == .runLimit {
        _ = machine.step(.reply(.pump(isOn: false)), at: .seconds(99))
        _ = machine.step(.reply(.status(PumpStatus(state: .off))), at: .seconds(99.2))
      }
      if self == .offExhausted { _ = machine.step(.reply(.status(PumpStatus(state: .off))), at: .seconds(99)) }
    default: break
    }
    return machine
  }
}

private let columns: [(String, PumpOperatorEvent)] = [
  ("turnOn", .order(.turnOn(nil))), ("turnOnAt", .order(.turnOn(PumpSpeed(duty: 200)))),
  ("turnOff", .order(.turnOff)), ("setSpeed", .order(.setSpeed(PumpSpeed(duty: 50)))),
  ("readTemperatures", .order(.readTemperatures)), ("watched", .order(.watched)),
  ("emergencyStop", .order(.emergencyStop)), ("reset", .order(.reset)), ("linked", .linked),
  ("unlinked", .unlinked), ("ok", .reply(.ok)), ("pumpOn", .reply(.pump(isOn: true))),
  ("pumpOff", .reply(.pump(isOn: false))), ("speed", .reply(.speed(PumpSpeed(duty: 100)))),
  ("statusOn", .reply(.status(PumpStatus(state: .on, percent: 39)))),
  ("statusOff", .reply(.status(PumpStatus(state: .off)))), ("statusError", .reply(.status(PumpStatus(state: .error)))),
  ("statusEmpty", .reply(.status(PumpStatus()))),
  ("cool", .reply(.temperatures(PumpTemperatures(water: .celsius(12), skin: .celsius(34))))),
  ("hot", .reply(.temperatures(PumpTemperatures(single: .celsius(40.1))))),
  ("open", .reply(.temperatures(PumpTemperatures(skin: .celsius(-77.5))))),
  ("unread", .reply(.temperatures(PumpTemperatures(skin: .unknown)))),
  ("manualOn", .reply(.manual(isOn: true))), ("manualOff", .reply(.manual(isOn: false))),
  ("safetyShutoff", .reply(.error(.safetyShutoff))), ("overheat", .reply(.error(.overheat))),
  ("sensorFault", .reply(.error(.sensorFault))), ("startFailed", .reply(.error(.startFailed))),
  ("notRunning", .reply(.error(.notRunning))), ("invalidSpeed", .reply(.error(.invalidSpeed))),
  ("unknownCommand", .reply(.error(.unknownCommand))), ("commandTooLong", .reply(.error(.commandTooLong))),
  ("otherError", .reply(.error(.other(ShortText("LOW_FLOW"))))), ("remark", .reply(.remark(.maximumRuntime))),
  ("tooHotRemark", .reply(.remark(.skinTooHot(.celsius(41.5))))), ("invalidLine", .invalidLine),
  ("settings", .settings(try! PumpOperatorSettings(runLimit: .seconds(60)))), ("tick", .tick),
  ("missed", .missed(releases: 4)), ("externalStop", .externalStop), ("quit", .order(.quit)), ("shutdown", .shutdown),
]

@Suite(.ownThread) struct PumpOperatorTableTests {
  @Test("operator, every state: every event, the state, connection, command and verdict of the table")
  func everyPair() throws {
    var lines: [String] = []
    for row in Row.allCases {
      let before = row.machine
      lines.append("\(row.rawValue): \(words(before.state)), \(words(before.contact))")
      for (name, event) in columns {
        var machine = before
        let action = machine.step(event, at: .seconds(99.9))
        lines.append("  " + padded([name, words(machine.state), words(machine.contact), words(action)], [17, 28, 10]))
        #expect(machine.nextDeadline.map { $0 > .seconds(99.9) } ?? true, "\(row) \(name): a deadline in the past")
      }
    }
    try expectGolden(lines, "PumpOperatorTable.txt")
  }
}
