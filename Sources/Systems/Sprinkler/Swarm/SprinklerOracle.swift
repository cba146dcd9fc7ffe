import Sprinkler
import Tactus
import TactusSwarm

/// Checks the valves and the acknowledged commands, from the requests, the state of the lines and the contents of the store.
struct SprinklerOracle {
  static let names =
    [
      "a zone is open no longer than its acknowledged runs, and what the guard has ended stays ended",
      "one zone is open at a time",
      "a program is there if it was acknowledged, and only then", "an acknowledged run waits, runs, or is in the log",
      "the log has no more water than there was",
    ] + SprinklerFlowOracle.names
  private static let flowNames = names.count - SprinklerFlowOracle.names.count
  private static let period = SprinklerLoop.period

  var output = SwarmOutput(names, tick: period, heartbeat: period)
  var flow = SprinklerFlowOracle(SprinklerSwarm.files[0], at: .zero)
  private var granted: [Nanoseconds] = Array(repeating: .zero, count: SprinklerSwarm.zones)
  /// The part of `granted` that was added since the loop's last tick: a client may have requested it after the guard's write.
  private var fresh: [Nanoseconds] = Array(repeating: .zero, count: SprinklerSwarm.zones)
  private var used: [Nanoseconds] = Array(repeating: .zero, count: SprinklerSwarm.zones)
  private var lookedAt = TickInstant.zero
  private var waitingStops: [Bool] = []
  private var programs: [Int: [Program.Step]] = [:]
  private var runs: Set<UInt64> = []
  private var isUnsure = false
  /// The number of writes to the store at the last check, or `nil` if a command has been acknowledged since.
  private var seen: Int?
  /// The instant at which the guard closed a valve of a running daemon; `nil` once the loop has reported that to the schedule.
  private var cutAt: TickInstant?
  private var hasTickedSinceCut = false
  /// The time that may be logged in excess: if the daemon dies before its loop reports the guard's write, its runs are charged until its death.
  private var untold = Nanoseconds.zero
  /// The instant since which the store has been full, or `nil` if it is not full. Valves closed meanwhile are logged as open.
  private var fullSince: TickInstant?
  /// The instant of the daemon's last beat.
  private var beatAt = TickInstant.zero
  /// The instant of the first death of the daemon whose end the store has not recorded, or `nil` if the store has recorded every end.
  private var unsettledSince: TickInstant?
  /// The total time for which each zone was open, excused or not.
  private var watered: [Nanoseconds] = Array(repeating: .zero, count: SprinklerSwarm.zones)

  // MARK: What is done

  mutating func started(at now: TickInstant, _ cover: SwarmCover, _ limits: FlowLimits) {
    waitingStops = []
    flow.started(limits, at: now)
    if let died = output.reach.killedAt {
      // Without a note of the closing, the log charges runs until this start.
      if cover.hookFailed, cover.madeSafe == nil { untold = untold + (now - died) }
      // The same holds for a valve opened after the guard's last noted write and before the daemon's death.
      if let last = cover.madeSafeLast, last < died { untold = untold + (now - last) }
      // While another output refuses, the guard writes repeatedly; a run that began after its first write is charged until its last one.
      if let first = cover.madeSafe, let last = cover.madeSafeLast, first < died, died < last {
        untold = untold + (last - died)
      }
    }
    output.started(at: now, cover)
    beatAt = now
    clearFresh()
    endAll()
  }

  mutating func killed(at now: TickInstant, safeBy: TickInstant) {
    waitingStops = []
    if let cutAt { untold = untold + (safeBy - cutAt) }
    // Pauses and ends are stored at the beat that hears of them. What was not stored yet is charged until the write of the guard or the hook; a
    // daemon that stands still has no beat.
    untold = untold + .milliseconds(100) + (safeBy - beatAt)
    if let since = unsettledSince ?? fullSince { untold = untold + (safeBy - since) }
    unsettledSince = unsettledSince ?? now
    cutAt = nil
    output.killed(at: now, safeBy: safeBy)
  }

  /// Records that the guard has closed every valve.
  mutating func cut(wasOpen: Bool, isConfirmed: Bool, at now: TickInstant) {
    output.reach.wrote(isConfirmed: isConfirmed)
    if wasOpen, output.reach.killedAt == nil { (cutAt, hasTickedSinceCut) = (cutAt ?? now, false) }
    endAll()
  }

  /// Ends all open and queued runs, which are never resumed; programs may still start.
  private mutating func endAll() {
    granted = zip(used, fresh).map { $0 + $1 }
    let before = fresh
    for steps in programs.values { grant(steps) }
    fresh = before
  }

  mutating func asked(_ number: UInt64, _ order: SprinklerOrder, at now: TickInstant) {
    if case .emergencyStop = order { waitingStops.append(true) }
    if case .reset = order { waitingStops.append(false) }
  }

  mutating func acknowledged(_ command: SprinklerCommand, _ effects: SprinklerEffects) {
    runs.formUnion(effects.runs)
    seen = nil
    switch command {
    case .zoneOn(let zone, let seconds, _): grant([Program.Step(zone: zone, seconds: seconds ?? 4)])
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

  /// Records a refused command. If the process died in the write, the store may contain the change although the client got no acknowledgement.
  mutating func refused(_ command: SprinklerCommand, diedInWrite: Bool) {
    isUnsure = isUnsure || diedInWrite
    seen = nil
  }

  private mutating func grant(_ steps: [Program.Step]) {
    // Each run may be longer by the delay of a late tick.
    for step in steps {
      let span = Nanoseconds.seconds(Int64(step.seconds)) + .milliseconds(10)
      granted[step.zone.index] = granted[step.zone.index] + span
      fresh[step.zone.index] = fresh[step.zone.index] + span
    }
  }

  private mutating func clearFresh() { fresh = Array(repeating: .zero, count: fresh.count) }

  /// Records a tick of the loop.
  ///
  /// - Parameters:
  ///   - before: the snapshot published before this tick, which shows the lines before it.
  ///   - after: the snapshot published in this tick.
  mutating func ticked(at now: TickInstant, _ before: SprinklerSnapshot, _ after: SprinklerSnapshot) {
    let wasSafe = before.told == 0 && before.confirmation.isConfirmed && before.at > .zero
    flow.ticked(at: now, wasSafe: wasSafe && !output.reach.isBusDown(at: now))
    for isStop in waitingStops {
      output.took(isStop: isStop, at: now)
      if !isStop { flow.reset(at: now) }
    }
    flow.told(after.state, after.flow?.alarm, at: now, &output, Self.flowNames)
    if after.writes != before.writes { flow.wrote(at: now) }
    waitingStops = []
    hasTickedSinceCut = true
    clearFresh()
  }

  // MARK: What must hold

  mutating func kept(_ store: SimulatedScheduleStore, at now: TickInstant) {
    beatAt = now
    if hasTickedSinceCut, !store.isFull { cutAt = nil }
    if store.isFull { fullSince = fullSince ?? now } else { (fullSince, unsettledSince) = (nil, nil) }
    // Without a write since the last check, the result of that check still holds.
    guard store.writes != seen else { return }
    seen = store.writes
    let records = store.records
    let there = Set(records.programs.map(\.id))
    if isUnsure {
      // The store shows now whether it had accepted the change before the process died.
      isUnsure = false
      programs = programs.filter { there.contains($0.key) }
      for program in records.programs { programs[program.id] = program.steps }
    } else {
      let missing = Set(programs.keys).subtracting(there).sorted()
      output.check(2, missing.isEmpty, at: now, "programs \(missing) were acknowledged and are not in the store")
      let extra = there.subtracting(programs.keys).sorted()
      output.check(2, extra.isEmpty, at: now, "programs \(extra) are in the store and were never acknowledged")
    }
    let pending = Set(records.pending.map(\.run))
    runs = runs.filter { !store.hasLogged($0) }
    let lost = runs.subtracting(pending).sorted()
    output.check(3, lost.isEmpty, at: now, "runs \(lost) were acknowledged, do not wait, and are not in the log")
    for zone in watered.indices {
      let logged = store.loggedSeconds(zone)
      output.check(
        4, logged <= (watered[zone] + untold).inSeconds + 0.001, at: now,
        "zone \(zone + 1) was open for \(watered[zone].inSeconds) s, and \(logged) s are logged")
    }
  }

  /// Checks the open valves.
  ///
  /// - Parameter hasDied: whether the process has died in a write, and the simulation has not handled that yet.
  mutating func check(open: UInt64, at now: TickInstant, hasDied: Bool = false) {
    let isExcused = hasDied || output.check(isActive: open != 0, at: now)
    if output.reach.killedAt == nil {
      let awakeSince = output.reach.standsUntil
      flow.check(open: open, at: now, awakeSince: awakeSince, isExcused: isExcused, &output, Self.flowNames)
    }
    for zone in 0..<SprinklerSwarm.zones where open >> UInt64(clamping: zone) & 1 != 0 {
      watered[zone] = watered[zone] + (now - lookedAt)
      if !isExcused { used[zone] = used[zone] + (now - lookedAt) }
      output.check(
        0, isExcused || used[zone] <= granted[zone], at: now,
        "zone \(zone + 1) was open for \(used[zone].inSeconds) s, its runs are \(granted[zone].inSeconds) s")
    }
    lookedAt = now
    output.check(1, isExcused || open.nonzeroBitCount <= 1, at: now, "\(open.nonzeroBitCount) zones are open")
  }
}
