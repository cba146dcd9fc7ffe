import Buses
import Foundation
import Tactus
import TestSupport
import Testing

@testable import Sprinkler

/// The rows of the table, and how to reach each: two zones on lines 0 and 1, the master valve on line 2 with 10 s of lead
/// and 10 s of lag. Every row is looked at at 100 s.
private enum Row: String, CaseIterable {
  case fresh, idle, soaking, leading, open, lagging, paused, fault, faultDone, stopped, stoppedDone, down, downDone

  var machine: IrrigationMachine {
    var machine = IrrigationMachine(
      try! IrrigationSettings(
        lineCount: 3, master: try! MasterValve(line: 2, lead: .seconds(10), lag: .seconds(10)),
        flow: try! FlowSettings(
          pulsesPerLitre: 60, noFlow: .init(litresPerMinute: 1, over: .seconds(20)))))
    func step(_ machine: inout IrrigationMachine, _ event: IrrigationEvent, _ seconds: Int64, confirms: Bool = true) {
      let action = machine.step(event, at: .seconds(seconds))
      if confirms, action.lines != nil { _ = machine.step(.linesConfirmed, at: .seconds(seconds)) }
    }
    func run(_ id: UInt64, _ zone: Int, _ seconds: UInt32, soak: UInt32 = 0) -> IrrigationEvent {
      .order(
        .run(
          ZoneRun(id: id, zone: ZoneID(zone)!, seconds: seconds, source: .program(id: 1), soakSeconds: soak), .append))
    }
    for zone in 1...2 {
      step(&machine, .order(.zone(ZoneID(zone)!, ZoneSettings(line: UInt8(zone - 1)))), 0, confirms: self != .fresh)
    }
    if self != .fresh { step(&machine, .tick, 1) }
    switch self {
    case .fresh, .idle: break
    case .soaking:
      step(&machine, run(9, 1, 10), 20)
      step(&machine, .tick, 30)
      step(&machine, .tick, 40)
      step(&machine, .tick, 50)
      step(&machine, run(1, 1, 60, soak: 600), 60)
    case .leading: step(&machine, run(1, 1, 60), 95)
    case .lagging:
      step(&machine, run(9, 1, 10), 75)
      step(&machine, .tick, 85)
      step(&machine, .tick, 95)
    case .paused:
      step(&machine, run(1, 1, 60), 70)
      step(&machine, .tick, 80)
      step(&machine, .order(.pause(seconds: 600)), 90)
    case .open, .fault, .faultDone, .stopped, .stoppedDone, .down, .downDone:
      step(&machine, run(1, 1, 60), 70)
      step(&machine, .tick, 80)
      step(&machine, run(2, 2, 60), 85)
      let isDone = self == .faultDone || self == .stoppedDone || self == .downDone
      switch self {
      case .fault, .faultDone: step(&machine, .missed(releases: 3), 90, confirms: isDone)
      case .stopped, .stoppedDone: step(&machine, .order(.emergencyStop), 90, confirms: isDone)
      case .down, .downDone: step(&machine, .shutdown, 90, confirms: isDone)
      default: break
      }
    }
    while machine.takeNotice() != nil {}
    return machine
  }
}

private enum Column: String, CaseIterable {
  case now, nowOther, append, insert, replace, program, extend, off, offQueued, cancel, allOff, skip, clearQueue
  case pause, resume, rain, rainEnds, rainOver, dayBegan, ranToday, same, disabled, gone, emergencyStop, reset, stale
  case tick, linesConfirmed, linesDiffer, linesFailed, flow, flowLimits, missed, externalStop, shutdown

  var event: IrrigationEvent {
    func run(_ zone: Int, _ source: ZoneRun.Source = .manual) -> ZoneRun {
      ZoneRun(id: 50, zone: ZoneID(zone)!, seconds: 30, source: source)
    }
    let one = ZoneID(1)!
    return switch self {
    case .now: .order(.run(run(1), .now))
    case .nowOther: .order(.run(run(2), .now))
    case .append: .order(.run(run(1), .append))
    case .insert: .order(.run(run(1), .insert))
    case .replace: .order(.run(run(2), .replace))
    case .program: .order(.run(run(1, .program(id: 4)), .append))
    case .extend: .order(.extend(one, seconds: 30))
    case .off: .order(.off(one, dropsQueued: false))
    case .offQueued: .order(.off(one, dropsQueued: true))
    case .cancel: .order(.cancel(run: 1))
    case .allOff: .order(.allOff)
    case .skip: .order(.skip)
    case .clearQueue: .order(.clearQueue)
    case .pause: .order(.pause(seconds: 60))
    case .resume: .order(.resume)
    case .rain: .order(.rain(isActive: true, endsRuns: false))
    case .rainEnds: .order(.rain(isActive: true, endsRuns: true))
    case .rainOver: .order(.rain(isActive: false, endsRuns: true))
    case .dayBegan: .order(.dayBegan)
    case .ranToday: .order(.ranToday(one, .seconds(60)))
    case .same: .order(.zone(one, ZoneSettings(line: 0)))
    case .disabled: .order(.zone(one, ZoneSettings(line: 0, isEnabled: false)))
    case .gone: .order(.zone(one, nil))
    case .emergencyStop: .order(.emergencyStop)
    case .reset: .order(.reset)
    case .stale: .stale
    case .tick: .tick
    case .linesConfirmed: .linesConfirmed
    case .linesDiffer: .linesDiffer(read: 0b010)
    case .linesFailed: .linesFailed(.gone)
    case .flow: .flow(pulses: 5)
    case .flowLimits: .flowLimits(FlowLimits())
    case .missed: .missed(releases: 4)
    case .externalStop: .externalStop(since: .seconds(98))
    case .shutdown: .shutdown
    }
  }
}

private func words(_ state: IrrigationState) -> String {
  switch state {
  case .idle: "idle"
  case .watering: "watering"
  case .paused(let until): "paused:\(until.nanoseconds / 1_000_000_000)"
  case .fault(.lines): "fault:lines"
  case .fault(.lineDiffers): "fault:differs"
  case .fault(.flow): "fault:flow"
  case .fault(.missedReleases): "fault:missed"
  case .emergencyStopped: "stopped"
  case .shutDown: "down"
  }
}

private func words(_ notice: IrrigationNotice) -> String? {
  switch notice.subject {
  case .opened(let run): "+\(run.id)"
  case .reopened(let run, _): "+\(run.id)"
  case .ended(let end): "\(end.run.id):\(end.outcome)"
  case .extended(let run, _): "\(run.id):\(run.seconds)s"
  case .state, .master, .flowAlarm, .flowNormal, .linesDiffer, .linesAgree: nil
  }
}

/// `IrrigationTable.txt` has every state × every event at 100 s: the state after it (`?`: the lines have not confirmed), the lines told
/// (line 0 last, `-`: none), the verdict, the runs that are queued then, and what runs did: `+1` opened, `1:stopped` ended.
@Suite(.ownThread) struct IrrigationTableTests {
  private static let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "IrrigationTable.txt")

  @Test("every state: every event, the state, lines, verdict, queue and runs of the table")
  func everyPair() throws {
    var seen: [String] = []
    for row in Row.allCases {
      seen.append(row.rawValue)
      for column in Column.allCases {
        var machine = row.machine
        let action = machine.step(column.event, at: .seconds(100))
        let state = words(machine.state) + (machine.confirmation.isConfirmed ? "" : "?")
        let verdict =
          switch action.verdict {
          case .accepted: "ok"
          case .refused(let reason): reason.rawValue
          }
        var runs: [String] = []
        while let notice = machine.takeNotice() { if let text = words(notice) { runs.append(text) } }
        let lines = action.lines.map { String($0, radix: 2) } ?? "-"
        seen.append(
          "  \(column) \(state) \(lines) \(verdict) \(machine.queueCount) \(runs.joined(separator: ","))"
            .trimmingCharacters(in: .newlines))
        if let deadline = machine.nextDeadline {
          #expect(.seconds(100) < deadline, "\(row) \(column): the deadline is not in the future")
        }
      }
    }
    if ProcessInfo.processInfo.environment["TACTUS_REWRITE"] != nil {
      try rewrite(seen)
      return
    }
    let expected = try String(contentsOf: Self.file, encoding: .utf8).split(separator: "\n").map { line in
      (line.hasPrefix("  ") ? "  " : "") + line.split(separator: " ").joined(separator: " ")
    }
    #expect(seen.count == expected.count)
    var row = ""
    for (one, other) in zip(seen, expected) {
      if !other.hasPrefix(" ") { row = other }
      #expect(one.trimmingCharacters(in: .whitespaces) == other.trimmingCharacters(in: .whitespaces), "\(row)")
    }
  }

  /// `TACTUS_REWRITE=1 scripts/swift test --filter IrrigationTableTests`, and then the difference is read line by line.
  private func rewrite(_ seen: [String]) throws {
    var lines: [String] = []
    for line in seen {
      let fields = line.split(separator: " ").map(String.init)
      guard fields.count > 1 else {
        lines.append(line)
        continue
      }
      let widths = [15, 14, 5, 18, 2, 0]
      let padded = zip(fields, widths).map { $0.padding(toLength: max($0.count + 1, $1), withPad: " ", startingAt: 0) }
      lines.append("  " + padded.joined().trimmingCharacters(in: .whitespaces))
    }
    try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: Self.file)
  }
}
