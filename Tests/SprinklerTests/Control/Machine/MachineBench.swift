import Buses
import Tactus

@testable import Sprinkler

/// A machine stepped by hand whose lines take what they are told, and the story that its notices tell.
final class MachineBench {
  private(set) var machine: IrrigationMachine
  private(set) var now = TickInstant.zero
  /// What the lines were told last.
  private(set) var word: UInt64 = .max
  /// Notices since the last `story()`, `1.5 opened 7` (seconds, run).
  private var lines: [String] = []
  private(set) var notices: [IrrigationNotice] = []
  private var number: UInt64 = 0
  /// Whether the lines confirm by themselves.
  var confirms = true

  /// Zones 1… on lines 0….
  init(_ settings: IrrigationSettings, zones: [ZoneSettings]) {
    machine = IrrigationMachine(settings)
    for (index, zone) in zones.enumerated() { _ = step(.zone(ZoneID(index + 1)!, zone)) }
    _ = step(.tick)
    _ = story()
  }

  /// So many zones with the standard limits; the master valve's line is the one after them.
  convenience init(
    zones count: Int = 3, maximumOpen: Int = 1, groups: [Int: Int] = [:], delay: Int64 = 0, lead: Int64? = nil,
    lag: Int64 = 0, flow: FlowSettings? = nil, change: (Int, inout ZoneSettings) -> Void = { _, _ in }
  ) {
    let master = lead.map { try! MasterValve(line: UInt8(count), lead: .seconds($0), lag: .seconds(lag)) }
    let settings = try! IrrigationSettings(
      lineCount: count + (master == nil ? 0 : 1), master: master, stationDelay: .seconds(delay),
      maximumOpen: maximumOpen, groups: groups, flow: flow)
    self.init(
      settings,
      zones: (0..<count).map { index in
        var zone = ZoneSettings(line: UInt8(index))
        change(index + 1, &zone)
        return zone
      })
  }

  @discardableResult
  func step(_ order: SprinklerOrder) -> IrrigationVerdict { step(.order(order)) }

  @discardableResult
  func step(_ event: IrrigationEvent) -> IrrigationVerdict {
    let action = machine.step(event, at: now)
    var wanted = action.lines
    while let lines = wanted {
      word = lines
      wanted = confirms ? machine.step(.linesConfirmed, at: now).lines : nil
    }
    while let notice = machine.takeNotice() {
      notices.append(notice)
      lines.append(Self.words(notice))
    }
    return action.verdict
  }

  /// Every deadline on the way is kept to the nanosecond.
  func advance(to seconds: Double) {
    let end = TickInstant(nanoseconds: Nanoseconds.seconds(seconds).count)
    precondition(!(end < now))
    var last = now
    while let deadline = machine.nextDeadline, !(end < deadline) {
      precondition(last < deadline, "the deadline \(deadline) is not after \(last)")
      last = deadline
      now = deadline
      step(.tick)
    }
    now = end
  }

  func jump(to seconds: Double) { now = TickInstant(nanoseconds: Nanoseconds.seconds(seconds).count) }

  /// A run by hand, or of program 1; returns its number, counted from 1.
  @discardableResult
  func run(
    _ zone: Int, _ seconds: UInt32, _ placement: RunPlacement = .append, soak: UInt32 = 0, isScheduled: Bool = false,
    ignoresRain: Bool = false
  ) -> IrrigationVerdict {
    number += 1
    return step(
      .run(
        ZoneRun(
          id: number, zone: ZoneID(zone)!, seconds: seconds, source: isScheduled ? .program(id: 1) : .manual,
          soakSeconds: soak, ignoresRain: ignoresRain), placement))
  }

  /// The notices since the last call.
  func story() -> [String] {
    defer { lines = [] }
    return lines
  }

  static func words(_ notice: IrrigationNotice) -> String {
    let at =
      notice.at.nanoseconds % 1_000_000_000 == 0
      ? "\(notice.at.nanoseconds / 1_000_000_000)" : "\(Double(notice.at.nanoseconds) / 1e9)"
    switch notice.subject {
    case .opened(let run): return "\(at) opened \(run.id)"
    case .reopened(let run, let left): return "\(at) reopened \(run.id) for \(left)"
    case .ended(let end): return "\(at) ended \(end.run.id) \(end.outcome) \(end.ran)"
    case .extended(let run, let until):
      return "\(at) extended \(run.id) until \(until.map { "\($0.nanoseconds / 1_000_000_000)" } ?? "-")"
    case .state(let state): return "\(at) \(state)"
    case .master(let isOpen): return "\(at) master \(isOpen ? "open" : "closed")"
    case .flowAlarm(let alarm): return "\(at) \(alarm)"
    case .flowNormal: return "\(at) flow normal"
    case .linesDiffer(let told, let read): return "\(at) told \(told) read \(read)"
    case .linesAgree: return "\(at) lines agree"
    }
  }
}

extension TickInstant {
  static func seconds(_ seconds: Int64) -> TickInstant { .zero + .seconds(seconds) }
}
