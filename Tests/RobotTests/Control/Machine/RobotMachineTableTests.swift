import Buses
import Tactus
import TestSupport
import Testing
import Wire

@testable import Robot

let sourceA = ControlSource.datagram(.ipv4(192, 168, 1, 20, port: 50_000))
let sourceB = ControlSource.datagram(.ipv4(192, 168, 1, 21, port: 50_000))
let sourceC = ControlSource.local(1)

func speeds(_ left: Double, _ right: Double) -> WheelSpeeds {
  WheelSpeeds(left: Percent(left), right: Percent(right))
}

func twist(_ metresPerSecond: Double, _ radiansPerSecond: Double) -> Twist {
  Twist(metresPerSecond: metresPerSecond, radiansPerSecond: radiansPerSecond)
}

extension RobotSettings {
  /// The standard settings of a robot whose wheels are 0.2 m apart and turn at 0.5 m/s at full speed.
  static let measured = try! RobotSettings(
    geometry: RobotGeometry(wheelBaseMetres: 0.2, topSpeedMetresPerSecond: 0.5))
}

extension SenderTimestamp {
  static func at(_ seconds: Double) -> SenderTimestamp { SenderTimestamp(wireValue: seconds) }
}

extension TickInstant {
  static func milliseconds(_ count: Int64) -> TickInstant { .zero + .milliseconds(count) }
}

/// The rows of the table, and how to reach each by events.
private enum StateRow: String, CaseIterable {
  case fresh, idle, held, stoppedByOther, stoppedOutside, driving
  case emergencyStopUnconfirmed, emergencyStop, emergencyStopInFault, faultUnconfirmed, fault, shutDown

  var history: [RobotEvent] {
    let drive = RobotEvent.command(.drive(speeds(50, 40)), timestamp: .at(10.5), from: sourceA)
    return switch self {
    case .fresh: []
    case .idle: [.stopConfirmed]
    case .held: [.stopConfirmed, .command(.drive(.zero), timestamp: .at(10.5), from: sourceA)]
    case .stoppedByOther: [drive, .command(.stop, from: sourceB), .stopConfirmed]
    case .stoppedOutside: [.stopConfirmed, drive, .driveConfirmed, .externalStop, .stopConfirmed]
    case .driving: [.stopConfirmed, drive, .driveConfirmed]
    case .emergencyStopUnconfirmed: [.stopConfirmed, .command(.emergencyStop, from: sourceB)]
    case .emergencyStop: [.command(.emergencyStop, from: sourceB), .stopConfirmed]
    case .emergencyStopInFault: [.command(.emergencyStop, from: sourceB), .stopConfirmed, .missed(releases: 3)]
    case .faultUnconfirmed: [.stopConfirmed, .missed(releases: 3)]
    case .fault: [.missed(releases: 3), .stopConfirmed]
    case .shutDown: [.shutdown, .stopConfirmed]
    }
  }
}

private enum EventColumn: String, CaseIterable {
  case driveA, driveAOlder, driveASame, driveAUnstamped, driveB, driveNaN, twistA, twistB, twistHuge
  case staleDrive, staleReset, zeroA, zeroAOlder, zeroB, twistZeroB, stopA, stopAOlder, stopB, emergencyStopC, resetC,
    clearance, battery, tilt, tick
  case driveConfirmed, driveNoAcknowledge, driveTimedOut, stopConfirmed, stopNoAcknowledge, stopTimedOut
  case missed, externalStop, settings, shutdown

  var event: RobotEvent {
    let some = speeds(30, 60)
    return switch self {
    case .driveA: .command(.drive(some), timestamp: .at(11.5), from: sourceA)
    case .driveAOlder: .command(.drive(some), timestamp: .at(9.5), from: sourceA)
    case .driveASame: .command(.drive(some), timestamp: .at(10.5), from: sourceA)
    case .driveAUnstamped: .command(.drive(some), from: sourceA)
    case .driveB: .command(.drive(some), timestamp: .at(12.5), from: sourceB)
    case .driveNaN: .command(.drive(speeds(.nan, 10)), timestamp: .at(11.5), from: sourceA)
    case .twistA: .command(.twist(twist(0.2, 0.5)), timestamp: .at(11.5), from: sourceA)
    case .twistB: .command(.twist(twist(0.2, 0.5)), timestamp: .at(12.5), from: sourceB)
    case .twistHuge: .command(.twist(twist(0.2, -100.5)), timestamp: .at(11.5), from: sourceA)
    case .twistZeroB: .command(.twist(twist(0, 0)), timestamp: .at(12.5), from: sourceB)
    case .staleDrive: .stale(isDrive: true)
    case .staleReset: .stale(isDrive: false)
    case .zeroA: .command(.drive(.zero), timestamp: .at(11.5), from: sourceA)
    case .zeroAOlder: .command(.drive(.zero), timestamp: .at(9.5), from: sourceA)
    case .zeroB: .command(.drive(.zero), timestamp: .at(12.5), from: sourceB)
    case .stopA: .command(.stop, timestamp: .at(11.5), from: sourceA)
    case .stopAOlder: .command(.stop, timestamp: .at(9.5), from: sourceA)
    case .stopB: .command(.stop, from: sourceB)
    case .emergencyStopC: .command(.emergencyStop, from: sourceC)
    case .resetC: .command(.reset, from: sourceC)
    case .clearance: .clearance(.distance(millimetres: 100))
    case .battery: .battery(percent: 1)
    case .tilt: .tilt(degrees: 90)
    case .tick: .tick
    case .driveConfirmed: .driveConfirmed
    case .driveNoAcknowledge: .driveFailed(MotorFailure(.noAcknowledge, code: 121))
    case .driveTimedOut: .driveFailed(MotorFailure(.timedOut, code: 110))
    case .stopConfirmed: .stopConfirmed
    case .stopNoAcknowledge: .stopFailed(MotorFailure(.noAcknowledge, code: 121))
    case .stopTimedOut: .stopFailed(MotorFailure(.timedOut, code: 110))
    case .missed: .missed(releases: 4)
    case .externalStop: .externalStop
    case .settings: .settings(.standard)
    case .shutdown: .shutdown
    }
  }
}

/// A state in the table's words.
private func words(_ state: RobotState) -> String {
  func name(_ source: ControlSource) -> String {
    [sourceA: "A", sourceB: "B", sourceC: "C"][source] ?? "?"
  }
  func mark(_ confirmation: StopConfirmation) -> String { confirmation.isConfirmed ? "" : "?" }
  switch state {
  case .stopped(let standstill):
    let reason =
      switch standstill.reason {
      case .start: "start"
      case .commanded: "commanded"
      case .silence: "silence"
      case .stoppedBy(let source): "by\(name(source))"
      case .externalStop: "outside"
      case .batteryEmpty: "empty"
      case .reset: "byReset"
      }
    return "stopped(\(reason))\(standstill.holder.map { name($0.source) } ?? "")\(mark(standstill.confirmation))"
  case .driving: return "driving"
  case .emergencyStopped(let stop): return "emergencyStop\(stop.fault == nil ? "" : "+fault")\(mark(stop.confirmation))"
  case .fault(let fault): return "fault\(mark(fault.confirmation))"
  case .shutDown(let confirmation): return "shutDown\(mark(confirmation))"
  }
}

private func words(_ action: RobotAction) -> String {
  let output =
    switch action.output {
    case .none: "none"
    case .drive: "drive"
    case .stop: "stop"
    }
  return switch action.verdict {
  case .accepted: "\(output) accepted"
  case .ignored(let reason): "\(output) \(reason)"
  }
}

@Suite(.ownThread) struct RobotMachineTableTests {
  /// "state event" → "next output verdict".
  private func expectations() -> [String: String] {
    var table: [String: String] = [:]
    var state = ""
    for line in robotMachineTable.split(separator: "\n") {
      let fields = line.split(separator: " ")
      if fields.count == 1 {
        state = String(fields[0])
      } else {
        let key = "\(state) \(fields[0])"
        #expect(table[key] == nil, "two rows for \(key)")
        table[key] = fields.dropFirst().joined(separator: " ")
      }
    }
    return table
  }

  @Test("every state: every event, the state, output and verdict of the table")
  func everyPair() {
    var table = expectations()
    for row in StateRow.allCases {
      for column in EventColumn.allCases {
        var machine = RobotMachine(.measured)
        for event in row.history { _ = machine.step(event, at: .zero) }
        let action = machine.step(column.event, at: .milliseconds(20))
        let key = "\(row) \(column)"
        guard let expected = table.removeValue(forKey: key) else {
          Issue.record("no expectation for \(key)")
          continue
        }
        let seen = "\(words(machine.state)) \(words(action))"
        #expect(seen == expected, "\(key)")
      }
    }
    #expect(table.isEmpty, "rows for unknown pairs: \(table.keys.sorted())")
  }
}
