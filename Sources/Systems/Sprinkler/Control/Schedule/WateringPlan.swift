/// What one start of a program comes to: the seasonal level applied, long runs split, in the order of the queue.
struct WateringPlan: Sendable, Hashable {
  struct Run: Sendable, Hashable {
    /// Its place among the program's steps.
    var step: Int
    var zone: ZoneID
    var seconds: Int
    /// Since the zone's last run.
    var soakSeconds: Int
    var ignoresRain: Bool
    /// Why there is no run; its seconds are the step's then.
    var skipped: RunOutcome?
  }
  private(set) var runs: [Run] = []

  /// - Parameters:
  ///   - percent: the seasonal level of that day.
  ///   - zones: those that can run at all, by id; what is not there, or disabled, is skipped.
  init(_ program: Program, percent: Int, zones: [ZoneID: Zone]) {
    let level = program.followsSeason ? percent : 100
    let cycles = program.steps.indices.map { Self.cycles(of: $0, program, level: level, zones: zones) }
    // Round by round, so that the others run while one soaks.
    for round in 0..<(cycles.map(\.count).max() ?? 0) {
      runs += cycles.compactMap { round < $0.count ? $0[round] : nil }
    }
  }

  /// None of it runs; what would not have run anyway keeps its reason.
  mutating func skipAll(_ why: RunOutcome) {
    skip(why) { _ in true }
  }

  /// Only what ignores rain runs.
  mutating func skipInRain() {
    skip(.rainDelay) { !$0.ignoresRain }
  }

  /// One line for a step, however many cycles it has.
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

  /// A step's runs, the first without a soak.
  private static func cycles(
    of place: Int, _ program: Program, level: Int, zones: [ZoneID: Zone]
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
    let scaled = (step.seconds * level + 50) / 100
    guard scaled > 0, level >= 20 || scaled >= 10 else {
      run.skipped = .seasonalLevel
      return [run]
    }
    let longest = min(program.cycleAndSoak?.cycleSeconds ?? zone.maximumSeconds, zone.maximumSeconds)
    guard let cycle = program.cycleAndSoak else {
      run.seconds = min(scaled, longest)
      return [run]
    }
    // As few as possible, as equal as whole seconds allow.
    let count = (scaled + longest - 1) / longest
    return (0..<count).map { index in
      run.seconds = scaled / count + (index < scaled % count ? 1 : 0)
      run.soakSeconds = index == 0 ? 0 : cycle.soakSeconds
      return run
    }
  }
}

extension SprinklerLevels {
  /// The level of a month, 1…12, %.
  public func percent(month: Int) -> Int {
    monthlyPercent.count == 12 ? monthlyPercent[month - 1] : seasonalPercent
  }
}
