/// The runs that one start of a program makes, in the order of the queue, with the seasonal level applied and long runs split.
struct WateringPlan: Sendable, Hashable {
  struct Run: Sendable, Hashable {
    /// The index of the program's step to which the run belongs.
    var step: Int
    var zone: ZoneID
    /// The duration in seconds; for a run by litres the longest duration.
    var seconds: Int
    /// The water, in litres, or `nil` for a run by time.
    var litres: Double?
    /// The shortest time for which the zone must have been closed since its previous run, in seconds.
    var soakSeconds: Int
    var ignoresRain: Bool
    /// The reason why the run is not made, or `nil` if it is; `seconds` is then the duration of the whole step.
    var skipped: RunOutcome?
    /// The longest run of the zone in seconds if the run was to be longer, or `nil` if it was not.
    var cutTo: Int?
    /// A description for people of the rain, the deficit or the reading of the soil that changed the run, or of the
    /// values that were missing; `nil` if none did.
    var why: String?
  }
  private(set) var runs: [Run] = []

  /// Plans the runs of a start.
  ///
  /// - Parameters:
  ///   - program: the program that starts.
  ///   - percent: the seasonal level of that day, in %.
  ///   - zones: the zones that can run, by id. Steps whose zone is missing or disabled are skipped.
  ///   - deficits: the consequence of the deficit, by zone; empty if the program does not use deficits.
  ///   - mostPercent: the longest duration that a deficit may give to a step, in % of its seconds.
  ///   - hasFlow: whether there is a flow sensor; without one, steps by litres last for their zone's default duration.
  init(
    _ program: Program, percent: Int, zones: [ZoneID: Zone], _ deficits: [ZoneID: DeficitFinding] = [:],
    mostPercent: Int = 100, hasFlow: Bool
  ) {
    let level = program.followsSeason ? percent : 100
    var deficits = deficits
    let cycles = program.steps.indices.map { place in
      let step = program.steps[place]
      let amount = deficits[step.zone].map { Self.amount($0, step, mostPercent: mostPercent) }
      // If the same zone follows again in the program, it gets the remaining amount.
      if let given = amount?.seconds, let all = deficits[step.zone]?.seconds {
        deficits[step.zone]?.seconds = all - given
      }
      return Self.cycles(of: place, program, level: level, zones: zones, amount, hasFlow: hasFlow)
    }
    // The cycles are interleaved, so that other zones run while one soaks.
    for round in 0..<(cycles.map(\.count).max() ?? 0) {
      runs += cycles.compactMap { round < $0.count ? $0[round] : nil }
    }
  }

  /// Skips all runs; runs that are skipped already keep their reason.
  mutating func skipAll(_ why: RunOutcome) {
    for index in runs.indices where runs[index].skipped == nil { runs[index].why = nil }
    skip(why) { _ in true }
  }

  /// Skips the runs that do not ignore rain.
  ///
  /// - Parameter why: the report of the forecast or the rain sensor, in words for people, or `nil` if a person began the rain delay.
  mutating func skipInRain(_ why: String?) {
    for index in runs.indices where runs[index].skipped == nil && !runs[index].ignoresRain { runs[index].why = why }
    skip(.rainDelay) { !$0.ignoresRain }
  }

  /// Skips and shortens runs as the soil demands; runs that are skipped already keep their reason.
  ///
  /// - Parameter findings: the findings of the soil, by zone.
  mutating func follow(_ findings: [ZoneID: SoilFinding]) {
    let isOpen = runs.map { $0.skipped == nil }
    for index in runs.indices where isOpen[index] {
      guard let finding = findings[runs[index].zone] else { continue }
      runs[index].why = [runs[index].why, finding.why].compactMap(\.self).joined(separator: "; ")
      if case .shorten(let percent)? = finding.effect {
        if let litres = runs[index].litres {
          runs[index].litres = litres * Double(percent) / 100
        } else {
          runs[index].seconds = max(1, (runs[index].seconds * percent + 50) / 100)
        }
      }
    }
    skip(.wetSoil) { run in
      switch findings[run.zone]?.effect {
      case .skip, .stop: true
      case .shorten, nil: false
      }
    }
  }

  /// Skips the runs that meet the condition, combined into one run for each step, however many cycles it has.
  private mutating func skip(_ why: RunOutcome, where condition: (Run) -> Bool) {
    var kept: [Run] = []
    var firsts: [Int: Int] = [:]
    for var run in runs {
      guard run.skipped == nil, condition(run) else {
        kept.append(run)
        continue
      }
      if let first = firsts[run.step] {
        kept[first].seconds += run.seconds
      } else {
        run.skipped = why
        firsts[run.step] = kept.count
        kept.append(run)
      }
    }
    runs = kept
  }

  /// Returns the amount of water that a deficit gives to one step, within the step's limit.
  private static func amount(_ finding: DeficitFinding, _ step: Program.Step, mostPercent: Int) -> DeficitFinding {
    guard let seconds = finding.seconds, seconds > 0 else { return finding }
    let most = (step.seconds * mostPercent + 50) / 100
    let minutes = SprinklerScheduler.number(Double(min(seconds, most)) / 60)
    return DeficitFinding(
      seconds: min(seconds, most), why: "\(finding.why): \(seconds > most ? "at most " : "")\(minutes) min")
  }

  /// Returns the run of a step by litres.
  private static func run(_ run: Run, by litres: Double, of zone: Zone, level: Int, hasFlow: Bool) -> Run {
    var run = run
    run.seconds = min(run.seconds, zone.maximumSeconds)
    guard hasFlow else {
      run.seconds = min(run.seconds, zone.defaultSeconds)
      let minutes = SprinklerScheduler.number(Double(run.seconds) / 60)
      run.why = "no flow sensor: \(minutes) min in place of \(SprinklerScheduler.number(litres)) l"
      return run
    }
    run.litres = litres * Double(level) / 100
    if level == 0 { run.skipped = .seasonalLevel }
    return run
  }

  /// Returns the runs of a step; the first one has no soak time.
  private static func cycles(
    of place: Int, _ program: Program, level: Int, zones: [ZoneID: Zone], _ amount: DeficitFinding?, hasFlow: Bool
  ) -> [Run] {
    let step = program.steps[place]
    let zone = zones[step.zone]
    var run = Run(
      step: place, zone: step.zone, seconds: step.seconds, soakSeconds: 0,
      ignoresRain: !program.skipsInRain || zone?.ignoresRain ?? false)
    guard let zone, zone.isEnabled else {
      run.skipped = .disabled
      return [run]
    }
    if let litres = step.litres { return [self.run(run, by: litres, of: zone, level: level, hasFlow: hasFlow)] }
    run.why = amount?.why
    if amount?.seconds == 0 {
      run.skipped = .noDeficit
      return [run]
    }
    let scaled = amount?.seconds ?? (step.seconds * level + 50) / 100
    guard amount?.seconds != nil || scaled > 0 && (level >= 20 || scaled >= 10) else {
      run.skipped = .seasonalLevel
      return [run]
    }
    let longest = min(program.cycleAndSoak?.cycleSeconds ?? zone.maximumSeconds, zone.maximumSeconds)
    guard let cycle = program.cycleAndSoak else {
      run.seconds = min(scaled, longest)
      if scaled > longest { run.cutTo = longest }
      return [run]
    }
    // The run is split into as few cycles as possible, as equal as whole seconds allow.
    let count = (scaled + longest - 1) / longest
    return (0..<count).map { index in
      run.seconds = scaled / count + (index < scaled % count ? 1 : 0)
      run.soakSeconds = index == 0 ? 0 : cycle.soakSeconds
      return run
    }
  }
}

extension SprinklerLevels {
  /// Returns the level of a month, 1…12, in %.
  public func percent(month: Int) -> Int {
    monthlyPercent.count == 12 ? monthlyPercent[month - 1] : seasonalPercent
  }
}
