import Foundation
import Tactus
import TestSupport
import Testing

@testable import Leg

/// The rows of the table, and how to reach each by events.
enum LegTableRow: String, CaseIterable {
  case fresh, disarmed, empty, waiting, pulse, released, fault, faultDone, stopped, stoppedDone, down, downDone

  var history: [LegEvent] {
    let armed: [LegEvent] = [.offConfirmed, .order(.command(.arm))]
    return switch self {
    case .fresh: []
    case .disarmed: [.offConfirmed]
    case .empty: [.offConfirmed, .order(.battery(Millivolts(6000)))]
    case .waiting: armed
    case .pulse, .released: armed + [.order(.command(.setServo(.microseconds(1200))))]
    case .fault: armed + [.order(.unlinked)]
    case .faultDone: armed + [.order(.unlinked), .offConfirmed]
    case .stopped: armed + [.order(.emergencyStop)]
    case .stoppedDone: armed + [.order(.emergencyStop), .offConfirmed]
    case .down: armed + [.shutdown]
    case .downDone: armed + [.shutdown, .offConfirmed]
    }
  }

  static let settings = try! LegSettings(
    releaseAfter: .milliseconds(100), battery: LegBatteryLimits(warning: Millivolts(6800), fault: Millivolts(6400)))

  /// The machine in this state at 100 ms, its deadman far away.
  var machine: LegMachine {
    var machine = LegMachine(Self.settings)
    for event in history { _ = machine.step(event, at: .milliseconds(50)) }
    _ = machine.step(.order(.command(.ping)), at: .milliseconds(99))
    if self == .released {
      _ = machine.step(.tick, at: .milliseconds(150))
      _ = machine.step(.offConfirmed, at: .milliseconds(150))
    }
    return machine
  }
}

enum LegTableColumn: String, CaseIterable {
  case arm, disarm, set, same, beyond, steer, ping, invalid, stale, linked, unlinked, emergencyStop, reset, batteryEmpty
  case batteryFull, settings, tick, offConfirmed, outputFailed, report, missed, externalStop, shutdown

  var event: LegEvent {
    switch self {
    case .arm: .order(.command(.arm))
    case .disarm: .order(.command(.disarm))
    case .set: .order(.command(.setServo(.microseconds(1700))))
    case .same: .order(.command(.setServo(.microseconds(1200))))
    case .beyond: .order(.command(.setServo(.microseconds(2600))))
    case .steer: .steer(.microseconds(1700))
    case .ping: .order(.command(.ping))
    case .invalid: .order(.invalidFrame)
    case .stale: .stale
    case .linked: .order(.linked)
    case .unlinked: .order(.unlinked)
    case .emergencyStop: .order(.emergencyStop)
    case .reset: .order(.reset)
    case .batteryEmpty: .order(.battery(Millivolts(6000)))
    case .batteryFull: .order(.battery(Millivolts(8000)))
    case .settings: .settings(try! LegSettings(deadmanTimeout: .milliseconds(50)))
    case .tick: .tick
    case .offConfirmed: .offConfirmed
    case .outputFailed: .outputFailed
    case .report: .report
    case .missed: .missed(releases: 4)
    case .externalStop: .externalStop
    case .shutdown: .shutdown
    }
  }
}

/// A state in the table's words; `?` marks an off not yet confirmed.
private func words(_ state: LegState) -> String {
  func mark(_ off: Tactus.Confirmation) -> String { off.isConfirmed ? "" : "?" }
  return switch state {
  case .disarmed(let off): "disarmed\(mark(off))"
  case .armed(.waiting(let off)): "waiting\(mark(off))"
  case .armed(.pulse(let motion)): "pulse\(motion.target.microseconds)"
  case .armed(.released(let at, let off)): "released\(at.microseconds)\(mark(off))"
  case .fault(let cause, let off): "fault:\(name(cause))\(mark(off))"
  case .emergencyStopped(let off): "stopped\(mark(off))"
  case .shutDown(let off): "down\(mark(off))"
  }
}

private func name(_ fault: LegFault) -> String {
  switch fault {
  case .silence: "silence"
  case .linkLost: "link"
  case .lowBattery: "battery"
  case .output: "output"
  case .missedReleases: "missed"
  case .externalStop: "external"
  }
}

private func words(_ action: LegAction) -> String {
  let output =
    switch action.output {
    case .none: "none"
    case .off: "off"
    case .pulse(let pulse): "\(pulse.microseconds)"
    }
  let verdict =
    switch action.verdict {
    case .accepted: "ok"
    case .ignored(let reason): "\(reason)"
    }
  return "\(output) \(verdict)"
}

@Suite(.ownThread) struct LegMachineTableTests {
  @Test("every state: every event, the state, output, verdict and error code of the table")
  func everyPair() throws {
    var seen: [String] = []
    for row in LegTableRow.allCases {
      seen.append(row.rawValue)
      for column in LegTableColumn.allCases {
        var machine = row.machine
        let now = TickInstant.milliseconds(row == .released ? 160 : 100)
        let answer = words(machine.step(column.event, at: now))
        let state = words(machine.state)
        let code = machine.step(.report, at: now).telemetry!.error.rawValue
        seen.append("  \(column) \(state) \(answer) \(code)")
      }
    }
    if ProcessInfo.processInfo.environment["TACTUS_REWRITE"] != nil {
      try rewrite(seen)
      return
    }
    let expected = legMachineTable.split(separator: "\n").map { line in
      (line.hasPrefix("  ") ? "  " : "") + line.split(separator: " ").joined(separator: " ")
    }
    #expect(seen.count == expected.count)
    var row = ""
    for (one, other) in zip(seen, expected) {
      if !other.hasPrefix(" ") { row = other }
      #expect(one == other, "\(row)")
    }
  }

  /// `TACTUS_REWRITE=1 scripts/swift test --filter LegMachineTableTests`, and then the difference is read line by line.
  private func rewrite(_ seen: [String]) throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "LegMachineTable.swift")
    let old = try String(contentsOf: file, encoding: .utf8)
    let head = old.components(separatedBy: "let legMachineTable").first ?? ""
    var lines: [String] = []
    for line in seen {
      let fields = line.split(separator: " ").map(String.init)
      guard fields.count > 1 else {
        lines.append("  \(line)")
        continue
      }
      let widths = [14, 15, 5, 17, 0]
      let padded = zip(fields, widths).map { $0.padding(toLength: max($0.count + 1, $1), withPad: " ", startingAt: 0) }
      lines.append("    " + padded.joined().trimmingCharacters(in: .whitespaces))
    }
    let table = "let legMachineTable = \"\"\"\n" + lines.joined(separator: "\n") + "\n  \"\"\"\n"
    try Data((head + table).utf8).write(to: file)
  }
}
