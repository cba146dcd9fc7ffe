import Buses
import Tactus
import TestSupport
import Testing

@testable import Sprinkler

/// A model of what the rules allow, fed with the same events, and with the lines and the notices that come of them: written
/// from the rules, not from the machine.
private struct WaterObserver {
  struct Line {
    var isOn = false
    var since = TickInstant.zero
    var closedAt: TickInstant?
    var total = Nanoseconds.zero
    var today = Nanoseconds.zero
    var reported = Nanoseconds.zero
  }
  struct Accepted {
    var run: ZoneRun
    var placement: RunPlacement
    var opened: TickInstant?
  }
  let settings: IrrigationSettings
  var zones: [ZoneSettings]
  var lines: [Line]
  var groupClosedAt: [Int: TickInstant] = [:]
  var closedAt: TickInstant?
  var masterSince: TickInstant?
  var runs: [UInt64: Accepted] = [:]
  var ended: [UInt64: EndedRun] = [:]
  var isRaining = false
  var extending: (ZoneID, UInt32)?
  var highestMaximum: UInt32 = 0
  var completions = 0
  var openings = 0

  init(_ settings: IrrigationSettings, zones: [ZoneSettings]) {
    self.settings = settings
    self.zones = zones
    lines = Array(repeating: Line(), count: zones.count)
    highestMaximum = zones.map(\.maximumSeconds).max()!
  }

  mutating func accepted(_ event: IrrigationEvent, at now: TickInstant) {
    switch event {
    case .order(.run(let run, let placement)): runs[run.id] = Accepted(run: run, placement: placement)
    case .order(.extend(let zone, let seconds)): extending = (zone, seconds)
    case .order(.rain(let isActive, _)): isRaining = isActive
    case .order(.dayBegan):
      for index in lines.indices {
        if lines[index].isOn { lines[index].total = lines[index].total + (now - lines[index].since) }
        lines[index].since = now
        lines[index].today = .zero
      }
    case .order(.zone(let zone, let settings?)):
      zones[zone.index] = settings
      highestMaximum = max(highestMaximum, settings.maximumSeconds)
    default: break
    }
  }

  /// The lines as they are from `now` on: the rule that they break.
  mutating func see(_ word: UInt64, at now: TickInstant, isOnTime: Bool) -> String? {
    var opening: [Int] = []
    for (index, zone) in zones.enumerated() {
      let isOn = zone.line.map { word >> UInt64($0) & 1 != 0 } ?? false
      if isOn, !lines[index].isOn { opening.append(index) }
      if !isOn, lines[index].isOn {
        lines[index].total = lines[index].total + (now - lines[index].since)
        lines[index].today = lines[index].today + (now - lines[index].since)
        lines[index].closedAt = now
        groupClosedAt[Int(zone.group)] = now
        closedAt = now
      }
      if isOn != lines[index].isOn { lines[index].since = now }
      lines[index].isOn = isOn
      let today = lines[index].today + (isOn ? now - lines[index].since : .zero)
      if isOnTime, let limit = zone.maximumSecondsPerDay, .seconds(Int64(limit)) < today {
        return "zone \(index + 1) ran \(today) in a day of \(limit) s"
      }
    }
    for index in opening {
      let last = settings.maximumOpen == 1 ? closedAt : groupClosedAt[Int(zones[index].group)]
      if let last, now - last < settings.stationDelay { return "zone \(index + 1) opened within the station delay" }
    }
    let on = lines.indices.filter { lines[$0].isOn }
    if on.count > settings.maximumOpen { return "\(on.count) zones open" }
    for group in Set(on.map { zones[$0].group }) {
      let count = on.filter { zones[$0].group == group }.count
      if count > Int(settings.maximumOpenInGroup[Int(group)]) { return "\(count) zones of group \(group) open" }
    }
    if let master = settings.master {
      let isOpen = word >> UInt64(master.line) & 1 != 0
      if !isOpen { masterSince = nil } else if masterSince == nil { masterSince = now }
      for index in on where zones[index].usesMaster {
        if master.lead.count >= 0, master.lag.count >= 0, !isOpen { return "zone \(index + 1) open without the master" }
        // With a negative lag it may be closed again already.
        if opening.contains(index), master.lead.count > 0, let masterSince, now - masterSince < master.lead {
          return "zone \(index + 1) opened before the master's lead was over"
        }
      }
    }
    return nil
  }

  mutating func see(_ notice: IrrigationNotice, isOnTime: Bool) -> String? {
    switch notice.subject {
    case .opened(let run):
      openings += 1
      guard var accepted = runs[run.id], ended[run.id] == nil else { return "run \(run.id) opened, not being accepted" }
      if accepted.opened != nil { return "run \(run.id) opened twice" }
      accepted.opened = notice.at
      runs[run.id] = accepted
      if isRaining, run.followsRain { return "run \(run.id) opened during a rain delay" }
      if accepted.placement != .now, accepted.placement != .replace,
        let closed = lines[run.zone.index].closedAt, notice.at - closed < .seconds(Int64(run.soakSeconds))
      {
        return "run \(run.id) opened within its soak"
      }
    case .reopened(let run, _):
      if runs[run.id]?.opened == nil || ended[run.id] != nil { return "run \(run.id) reopened, not having been open" }
    case .extended(let run, _):
      guard let (zone, seconds) = extending, zone == run.zone, runs[run.id]!.run.seconds + seconds == run.seconds else {
        return "run \(run.id) extended to \(run.seconds) s"
      }
      extending = nil
      runs[run.id]!.run.seconds = run.seconds
    case .ended(let end):
      let id = end.run.id
      guard let accepted = runs[id] else { return "run \(id) ended, never accepted" }
      if ended[id] != nil { return "run \(id) ended twice" }
      ended[id] = end
      lines[end.run.zone.index].reported = lines[end.run.zone.index].reported + end.ran
      if accepted.opened != end.opened { return "run \(id) says it opened at \(String(describing: end.opened))" }
      let asked = Nanoseconds.seconds(Int64(accepted.run.seconds))
      if end.run.seconds != accepted.run.seconds { return "run \(id) was asked for \(accepted.run.seconds) s" }
      if isOnTime {
        if asked < end.ran { return "run \(id) ran \(end.ran) of \(asked)" }
        if .seconds(Int64(highestMaximum)) < end.ran { return "run \(id) ran longer than any limit" }
      }
      if end.outcome == .completed {
        completions += 1
        if isOnTime ? end.ran != asked : end.ran < asked { return "run \(id) completed after \(end.ran) of \(asked)" }
      }
    default: break
    }
    return nil
  }

  /// When everything is off: what the notices say ran is what the lines did, and no run is left.
  func judgeEnd() -> String? {
    for (index, line) in lines.enumerated() where line.reported != line.total {
      return "zone \(index + 1): reported \(line.reported), the line was on for \(line.total)"
    }
    for id in runs.keys where ended[id] == nil { return "run \(id) never ended" }
    return nil
  }
}

@Suite(.ownThread) struct IrrigationPropertyTests {
  private static let zoneCount = 5

  private func randomSettings(_ random: inout SplitMix64) -> IrrigationSettings {
    let seconds = { (range: ClosedRange<Int64>, random: inout SplitMix64) in
      Nanoseconds.seconds(Int64.random(in: range, using: &random))
    }
    let hasMaster = Bool.random(using: &random)
    let master =
      hasMaster
      ? try! MasterValve(
        line: UInt8(Self.zoneCount), lead: seconds(-20...20, &random), lag: seconds(-20...20, &random)) : nil
    return try! IrrigationSettings(
      lineCount: Self.zoneCount + 1, master: master,
      stationDelay: Bool.random(using: &random) ? .zero : seconds(0...90, &random),
      maximumOpen: .random(in: 1...3, using: &random), groups: [1: .random(in: 1...2, using: &random)])
  }

  private func randomZone(_ index: Int, _ random: inout SplitMix64) -> ZoneSettings {
    ZoneSettings(
      line: UInt8(index), maximumSeconds: .random(in: 50...150, using: &random),
      maximumSecondsPerDay: Bool.random(using: &random) ? nil : .random(in: 60...300, using: &random),
      group: .random(in: 0...1, using: &random), usesMaster: Bool.random(using: &random))
  }

  private func randomEvent(
    _ random: inout SplitMix64, id: inout UInt64, zones: [ZoneSettings]
  ) -> IrrigationEvent {
    let zone = ZoneID(.random(in: 1...Self.zoneCount, using: &random))!
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<45:
      id += 1
      let placements: [RunPlacement] = [.now, .append, .append, .append, .insert, .replace]
      let sources: [ZoneRun.Source] = [.manual, .program(id: 1), .once(program: 2), .resumed(program: 3)]
      return .order(
        .run(
          ZoneRun(
            id: id, zone: zone, seconds: .random(in: 1...160, using: &random),
            source: sources.randomElement(using: &random)!,
            soakSeconds: Bool.random(using: &random) ? 0 : .random(in: 0...100, using: &random),
            ignoresRain: Int.random(in: 0..<5, using: &random) == 0), placements.randomElement(using: &random)!))
    case 45..<50: return .order(.extend(zone, seconds: .random(in: 1...60, using: &random)))
    case 50..<55: return .order(.off(zone, dropsQueued: Bool.random(using: &random)))
    case 55: return .order(.allOff)
    case 56..<59: return .order(.skip)
    case 59: return .order(.clearQueue)
    case 60..<64: return .order(.pause(seconds: .random(in: 1...100, using: &random)))
    case 64..<67: return .order(.resume)
    case 67..<71: return .order(.rain(isActive: Bool.random(using: &random), endsRuns: Bool.random(using: &random)))
    case 71..<74: return .order(.dayBegan)
    case 74..<78:
      var changed = zones[zone.index]
      changed.isEnabled = Int.random(in: 0..<3, using: &random) > 0
      changed.maximumSeconds = .random(in: 50...150, using: &random)
      return .order(.zone(zone, changed))
    case 78: return .order(.emergencyStop)
    case 79..<85: return .order(.reset)
    case 85: return .linesFailed(.gone)
    case 86: return .missed(releases: 3)
    case 87..<90: return .order(.cancel(run: .random(in: 1...max(1, id), using: &random)))
    default: return .tick
    }
  }

  /// One history. Returns what it broke, and how many runs opened and completed.
  private func play(seed: UInt64, isOnTime: Bool) -> (String?, Int, Int) {
    var random = SplitMix64(seed: seed)
    let settings = randomSettings(&random)
    let zones = (0..<Self.zoneCount).map { randomZone($0, &random) }
    var machine = IrrigationMachine(settings)
    var observer = WaterObserver(settings, zones: zones)
    var now = TickInstant.zero
    var word: UInt64 = 0
    var id: UInt64 = 0
    var broken: String?

    func step(_ event: IrrigationEvent) {
      guard broken == nil else { return }
      let action = machine.step(event, at: now)
      if action.verdict == .accepted { observer.accepted(event, at: now) }
      var wanted = action.lines
      while let lines = wanted {
        word = lines
        wanted = machine.step(.linesConfirmed, at: now).lines
      }
      if word != machine.lines { broken = "the lines are \(word), wanted \(machine.lines)" }
      // A valve that closes says so by its line first; one that opens, by its notice.
      while let notice = machine.takeNotice() {
        if let rule = observer.see(notice, isOnTime: isOnTime) { broken = broken ?? rule }
      }
      if observer.extending != nil { broken = broken ?? "an extension that nothing tells" }
      if let rule = observer.see(word, at: now, isOnTime: isOnTime) { broken = broken ?? rule }
      switch machine.state {
      case .paused, .fault, .emergencyStopped, .shutDown: if word != 0 { broken = "a line is on in \(machine.state)" }
      case .idle: if word != 0 { broken = "a line is on while idle" }
      case .watering: break
      }
      switch event {
      case .order(.allOff), .order(.emergencyStop), .linesFailed, .missed, .order(.pause):
        if action.verdict == .accepted, word != 0 { broken = "\(event) left a line on" }
      default: break
      }
      if let deadline = machine.nextDeadline, deadline <= now { broken = "the deadline is not in the future" }
    }

    /// To `end`, by every deadline on the way, or by none of them.
    func advance(to end: TickInstant) {
      while isOnTime, broken == nil, let deadline = machine.nextDeadline, deadline <= end {
        now = deadline
        step(.tick)
      }
      now = end
    }

    for (index, zone) in zones.enumerated() { step(.order(.zone(ZoneID(index + 1)!, zone))) }
    for number in 0..<80 {
      if Int.random(in: 0..<3, using: &random) > 0 {
        advance(to: now + .milliseconds(.random(in: 0...60_000, using: &random)))
      } else if let deadline = machine.nextDeadline, Bool.random(using: &random) {
        advance(to: deadline)
      }
      let event = randomEvent(&random, id: &id, zones: observer.zones)
      step(event)
      if let broken { return ("event \(number) \(event) at \(now.nanoseconds) ns: \(broken)", 0, 0) }
    }
    // Left alone, whatever waits gets its turn: nothing locks the queue.
    _ = machine.step(.order(.reset), at: now)
    if case .paused = machine.state { step(.order(.resume)) }
    for _ in 0..<5_000 {
      guard broken == nil, let deadline = machine.nextDeadline else { break }
      now = deadline
      step(.tick)
    }
    if broken == nil, machine.queueCount > 0 { broken = "\(machine.queueCount) runs are stuck in the queue" }
    if broken == nil, machine.state != .idle, machine.state.refusal == nil {
      broken = "left alone it is \(machine.state)"
    }
    broken = broken ?? observer.judgeEnd()
    return (broken.map { "at the end: \($0)" }, observer.openings, observer.completions)
  }

  @Test(
    "3,000 random histories: groups, limits, delays, soaks and the master's lead kept; every run ends once, its time is its line's; nothing locks",
    arguments: [true, false])
  func randomHistories(isOnTime: Bool) {
    var openings = 0
    var completions = 0
    for seed in UInt64(0)..<3_000 {
      let (broken, opened, completed) = play(seed: seed, isOnTime: isOnTime)
      openings += opened
      completions += completed
      if let broken {
        Issue.record("seed \(seed), \(broken)")
        return
      }
    }
    #expect(openings > 30_000 && completions > 10_000, "\(openings) opened, \(completions) completed")
  }
}
