@_spi(FromOutside) import Conversions
import WallTime

extension SprinklerScheduler {
  mutating func perform(_ command: SprinklerCommand, _ request: Request) throws(SprinklerRefusal) {
    switch command {
    case .zoneOn(let id, let seconds, let litres): try open(id, seconds: seconds, litres: litres, request)
    case .zoneExtend(let id, let seconds, let active): try extend(id, seconds: seconds, active: active, request)
    case .zoneOff(let id):
      _ = try zone(id)
      effects.orders.append(.off(id, dropsQueued: true))
    case .runProgram(let id): try run(try program(id), request)
    case .runOnce(let steps): try queue(steps, isNext: false, request)
    case .runNext(let steps): try queue(steps, isNext: true, request)
    case .skip: effects.orders.append(.skip)
    case .clearQueue: effects.orders.append(.clearQueue)
    case .remove(let run):
      guard pending(run) != nil else { throw .unknownRun(run) }
      effects.orders.append(.cancel(run: run))
    case .stopAll: effects.orders.append(.allOff)
    case .pause(let seconds):
      try Validation.number(seconds, 1...86_400, "seconds")
      effects.orders.append(.pause(seconds: UInt32(clamping: seconds)))
    case .resume: effects.orders.append(.resume)
    case .setRainDelay(let seconds):
      try Validation.number(seconds, 1...Self.longestRainDelay, "seconds")
      setRainDelay(RainDelay(seconds: seconds, reason: .manual, at: reading))
    case .cancelRainDelay: cancelRainDelay()
    case .setForecast(let isOn): setForecast(isOn: isOn)
    case .forgetFlow(let id): try forgetFlow(id)
    default: try edit(command, request)
    }
  }

  // MARK: runs by hand

  private mutating func open(
    _ id: ZoneID, seconds: Int?, litres: Double? = nil, _ request: Request
  ) throws(SprinklerRefusal) {
    let zone = try runnable(id, request)
    if let seconds { try Validation.number(seconds, 1...zone.maximumSeconds, "seconds") }
    if let litres { try Validation.litres(litres, hasFlow: settings.pulsesPerLitre != nil, "litres") }
    try checkRain()
    try checkRoom(1)
    let run = makeRun(
      id, seconds ?? (litres == nil ? zone.defaultSeconds : zone.maximumSeconds), litres: litres, program: nil,
      isScheduled: false, ignoresRain: true, request)
    effects.orders.append(.run(run, .now))
  }

  private mutating func extend(
    _ id: ZoneID, seconds: Int, active: UInt64?, _ request: Request
  ) throws(SprinklerRefusal) {
    guard var run = records.pending.first(where: { $0.zone == id && ($0.opened != nil || $0.run == active) }) else {
      return try open(id, seconds: seconds, request)
    }
    if let litres = run.litres {
      throw .invalid(
        field: "mode", expected: "set, because the zone's run is one of \(Self.number(litres)) l", got: "extend")
    }
    let zone = try runnable(id, request)
    let room = zone.maximumSeconds - run.askedSeconds
    guard room >= 1 else {
      throw .invalid(
        field: "seconds", expected: "no more: the run is as long as the zone's longest (\(zone.maximumSeconds))",
        got: "\(seconds)")
    }
    try Validation.number(seconds, 1...room, "seconds")
    run.askedSeconds += seconds
    change(.pending(run))
    effects.runs.append(run.run)
    effects.orders.append(.extend(id, seconds: UInt32(clamping: seconds)))
  }

  private mutating func run(_ program: Program, _ request: Request) throws(SprinklerRefusal) {
    try checkRain()
    let date = settings.zone.local(request.wall).date
    let plan = WateringPlan(
      program, percent: records.levels.percent(month: date.month), zones: usableZones,
      hasFlow: settings.pulsesPerLitre != nil)
    try checkRoom(plan.runs.count)
    for run in plan.runs {
      if let why = run.skipped {
        log(
          skipped: run, why, program, due: request.wall, isScheduled: false, caller: request.caller)
        continue
      }
      let made = makeRun(
        run.zone, run.seconds, litres: run.litres, program: program.id, isScheduled: false, soak: run.soakSeconds,
        ignoresRain: true, why: run.why, request)
      effects.orders.append(.run(made, .append))
    }
  }

  private mutating func queue(
    _ steps: [Program.Step], isNext: Bool, _ request: Request
  ) throws(SprinklerRefusal) {
    try Validation.count(steps.count, 1...64, "steps")
    var steps = steps
    for (place, step) in steps.enumerated() {
      let zone = try runnable(step.zone, request)
      if let litres = step.litres {
        try Validation.litres(litres, hasFlow: settings.pulsesPerLitre != nil, "steps[\(place)].litres")
        steps[place].seconds = max(1, min(step.seconds, zone.maximumSeconds))
        continue
      }
      try Validation.number(step.seconds, 1...zone.maximumSeconds, "steps[\(place)].seconds")
    }
    try checkRain()
    try checkRoom(steps.count)
    var runs: [ZoneRun] = []
    for step in steps {
      runs.append(
        makeRun(
          step.zone, step.seconds, litres: step.litres, program: nil, isScheduled: false, ignoresRain: true, request))
    }
    if isNext { putFirst(runs.map(\.id)) }
    // `insert` places a run before all waiting ones, so the last run is ordered first.
    effects.orders += isNext ? runs.reversed().map { .run($0, .insert) } : runs.map { .run($0, .append) }
  }

  /// Puts the runs before all waiting ones in the records as in the machine, so that a power cut does not change the order.
  private mutating func putFirst(_ runs: [UInt64]) {
    let open = records.pending.filter { $0.opened != nil }.map(\.run)
    let waiting = records.pending.filter { $0.opened == nil && !runs.contains($0.run) }.map(\.run)
    if !waiting.isEmpty { change(.pendingOrder(open + runs + waiting)) }
  }

  // MARK: checks that refuse a command

  func zone(_ id: ZoneID) throws(SprinklerRefusal) -> Zone {
    guard let zone = records.zones.first(where: { $0.id == id }) else { throw .unknownZone(Int(id.number)) }
    return zone
  }

  func program(_ id: Int) throws(SprinklerRefusal) -> Program {
    guard let program = records.programs.first(where: { $0.id == id }) else { throw .unknownProgram(id) }
    return program
  }

  /// Returns the zone if it may open now; throws the reason otherwise.
  private func runnable(_ id: ZoneID, _ request: Request) throws(SprinklerRefusal) -> Zone {
    let zone = try zone(id)
    guard usableZones[id] != nil else { throw .zoneDisabled(id) }
    if let limit = zone.maximumSecondsPerDay, (records.day == today ? records.ranToday[id] ?? 0 : 0) >= Double(limit) {
      throw .dayLimit(id, seconds: limit)
    }
    return zone
  }

  private func checkRoom(_ count: Int) throws(SprinklerRefusal) {
    guard records.pending.count + count <= settings.queueCapacity else {
      throw .queueFull(capacity: settings.queueCapacity)
    }
  }
}
