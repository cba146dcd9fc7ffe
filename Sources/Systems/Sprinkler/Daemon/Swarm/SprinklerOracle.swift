import Sprinkler
import Tactus
import TactusDaemon

/// What must hold of valves and of what was acknowledged, from what was asked, what the lines do and what the store has.
struct SprinklerOracle {
  static let names = [
    "a zone is open no longer than its acknowledged runs", "one zone is open at a time",
    "an emergency stop holds until a reset", "a killed daemon's valves are closed 20 ms later",
    "a program is there if it was acknowledged, and only then", "an acknowledged run waits, runs, or is in the log",
    "answers come in the order of their requests", "released = ran + skipped + pending",
  ]
  private static let period = SprinklerLoop.period

  private(set) var checks = SwarmChecks(names)
  private var reach = SwarmReach(tick: period, heartbeat: period)
  private var granted: [Nanoseconds] = Array(repeating: .zero, count: SprinklerSwarm.zones)
  private var used: [Nanoseconds] = Array(repeating: .zero, count: SprinklerSwarm.zones)
  private var lookedAt = TickInstant.zero
  private var waitingStops: [Bool] = []
  private var stoppedSince: TickInstant?
  private var programs: [Int: [Program.Step]] = [:]
  private var runs: Set<UInt64> = []
  private var isUnsure = false
  private var lastAnswer: UInt64 = 0
  private var epoch = TickInstant.zero

  // MARK: What is done

  mutating func started(at now: TickInstant) {
    (waitingStops, stoppedSince, lastAnswer, epoch) = ([], nil, 0, now)
    reach.started(at: now)
    // What a dead program left is never resumed; its programs may start.
    granted = used
    for steps in programs.values { grant(steps) }
  }

  mutating func killed(at now: TickInstant) {
    waitingStops = []
    reach.killed(at: now)
  }

  mutating func stalled(at now: TickInstant, for span: Nanoseconds) { reach.stalled(at: now, for: span) }
  mutating func bus(isFaulty: Bool, at now: TickInstant) { reach.bus(isFaulty: isFaulty, at: now) }

  mutating func asked(_ number: UInt64, _ order: SprinklerRequest.Order, at now: TickInstant) {
    if case .emergencyStop = order { waitingStops.append(true) }
    if case .reset = order { waitingStops.append(false) }
  }

  mutating func acknowledged(_ command: SprinklerCommand, _ effects: SprinklerEffects) {
    runs.formUnion(effects.runs)
    switch command {
    case .zoneOn(let zone, let seconds): grant([Program.Step(zone: zone, seconds: seconds ?? 4)])
    case .zoneExtend(let zone, let seconds, _): grant([Program.Step(zone: zone, seconds: seconds)])
    case .runOnce(let steps), .runNext(let steps): grant(steps)
    case .runProgram(let id): grant(programs[id] ?? [])
    case .addProgram(let program):
      for id in effects.programs { programs[id] = program.steps }
      grant(program.steps)
    case .removeProgram(let id): programs[id] = nil
    default: break
    }
  }

  /// A store that dies in the middle of a write may have it, and whoever asked was not told.
  mutating func refused(_ command: SprinklerCommand, diedInWrite: Bool) { isUnsure = isUnsure || diedInWrite }

  private mutating func grant(_ steps: [Program.Step]) {
    // A late tick is not the run's fault.
    for step in steps {
      granted[step.zone.index] = granted[step.zone.index] + .seconds(Int64(step.seconds)) + .milliseconds(10)
    }
  }

  mutating func answered(_ numbers: [UInt64], at now: TickInstant) {
    for number in numbers {
      checks.check(6, number == lastAnswer + 1, at: now, "answer \(number) came after answer \(lastAnswer)")
      lastAnswer = number
    }
  }

  mutating func ticked(at now: TickInstant) {
    for isStop in waitingStops { stoppedSince = isStop ? stoppedSince ?? now : nil }
    waitingStops = []
  }

  // MARK: What must hold

  mutating func kept(_ store: SimulatedScheduleStore, at now: TickInstant) {
    let records = store.records
    let there = Set(records.programs.map(\.id))
    if isUnsure {
      // Whether the store had taken it before the process died is seen now.
      isUnsure = false
      programs = programs.filter { there.contains($0.key) }
      for program in records.programs { programs[program.id] = program.steps }
    } else {
      let missing = Set(programs.keys).subtracting(there).sorted()
      checks.check(4, missing.isEmpty, at: now, "programs \(missing) were acknowledged and are not in the store")
      let extra = there.subtracting(programs.keys).sorted()
      checks.check(4, extra.isEmpty, at: now, "programs \(extra) are in the store and were never acknowledged")
    }
    let pending = Set(records.pending.map(\.run))
    runs = runs.filter { !store.hasLogged($0) }
    let lost = runs.subtracting(pending).sorted()
    checks.check(5, lost.isEmpty, at: now, "runs \(lost) were acknowledged, do not wait, and are not in the log")
  }

  mutating func look(open: UInt64, at now: TickInstant) {
    let isExcused = open == 0 || reach.isExcused(at: now)
    for zone in 0..<SprinklerSwarm.zones where open >> UInt64(zone) & 1 != 0 {
      if !isExcused { used[zone] = used[zone] + (now - lookedAt) }
      checks.check(
        0, isExcused || used[zone] <= granted[zone], at: now,
        "zone \(zone + 1) was open for \(used[zone].inSeconds) s, its runs are \(granted[zone].inSeconds) s")
    }
    lookedAt = now
    checks.check(1, isExcused || open.nonzeroBitCount <= 1, at: now, "\(open.nonzeroBitCount) zones are open")
    if let killedAt = reach.killedAt {
      guard now > killedAt + SwarmReach.deathTime else { return }
      checks.check(3, isExcused, at: now, "one is open, and the daemon died at \(SwarmAction.text(killedAt)) s")
    } else if let stoppedSince {
      checks.check(
        2, isExcused || now <= stoppedSince, at: now, "one is open, stopped at \(SwarmAction.text(stoppedSince)) s")
    }
  }

  mutating func account(_ loop: LoopStatistics, at now: TickInstant) {
    let (counters, due) = (loop.counters, (now - epoch).count / Self.period.count + 1)
    checks.check(
      7, counters.released == due && due == counters.ran + counters.skipped + counters.pending, at: now,
      "\(due) periods have begun: \(counters.ran) ran, \(counters.skipped) skipped, \(counters.pending) pending")
  }
}
