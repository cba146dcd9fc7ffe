/// Plans the loops of one lane: phases that keep releases apart, and whether every loop can meet its deadline.
public enum Planner {
  /// What the planner knows of a loop.
  public struct Task: Sendable, Hashable {
    /// The name of the loop.
    public var name: String
    /// The time between two releases, more than 0.
    public var period: Nanoseconds
    /// After the release; at most the period for the analysis to hold.
    public var deadline: Nanoseconds
    /// The longest a tick takes, declared or measured.
    public var executionTime: Nanoseconds

    /// A task of these times. Its deadline is its period unless it is given.
    public init(name: String, period: Nanoseconds, deadline: Nanoseconds? = nil, executionTime: Nanoseconds) {
      self.name = name
      self.period = period
      self.deadline = deadline ?? period
      self.executionTime = executionTime
    }
  }

  /// Phases for loops of these periods such that the smallest distance between any two releases, at any time, is as
  /// large as a greedy choice makes it. A given phase is kept.
  ///
  /// Releases of two loops are never closer than their phases are apart modulo the greatest common divisor of their
  /// periods. The loops are placed one after the other, shortest period first, each where its smallest distance to those
  /// already placed is largest; among equals the smallest phase. 64 loops at most are compared; further ones, and loops
  /// without a common divisor worth the name, are spread evenly.
  ///
  /// - Parameters:
  ///   - periods: of each loop, more than 0.
  ///   - given: as many: the phase that a loop keeps; `nil` for one to be found.
  ///   - groups: indices of loops that get one phase together, kept away from all others.
  public static func phases(
    periods: [Nanoseconds], given: [Nanoseconds?], together groups: [[Int]] = []
  ) -> [Nanoseconds] {
    require(periods.count == given.count, "one given phase, or nil, for each period")
    var placed: [(period: Int64, phase: Int64)] = []
    var phases = given.map { $0 ?? .zero }
    for index in periods.indices where given[index] != nil {
      placed.append((periods[index].count, phases[index].count))
    }
    let grouped = Set(groups.joined())
    let units = (groups + periods.indices.filter { !grouped.contains($0) }.map { [$0] })
      .map { unit in unit.filter { given[$0] == nil }.sorted { (periods[$0], $0) < (periods[$1], $1) } }
      .filter { !$0.isEmpty }.sorted { (periods[$0[0]], $0[0]) < (periods[$1[0]], $1[0]) }
    for (number, unit) in units.enumerated() {
      let phase: Int64
      if placed.count < 64 {
        phase = bestPhase(periods: unit.map { periods[$0].count }, placed: placed)
        for index in unit { placed.append((periods[index].count, phase)) }
      } else {
        // The fractional parts of multiples of the golden ratio are spread evenly, however many there are.
        let fraction = (Double(number) * 0.618_033_988_749_894_9).truncatingRemainder(dividingBy: 1)
        phase = Int64(fraction * Double(periods[unit[0]].count))
      }
      for index in unit { phases[index] = Nanoseconds(phase) }
    }
    return phases
  }

  /// Worst-case response time of each task: from its release to the end of its tick, whatever the phases.
  ///
  /// `tasks` come most urgent first, as a lane orders its loops: shorter period first, in the order of declaration among
  /// equals. Non-preemptive fixed-priority scheduling: George, Rivierre, Spuri, "Preemptive and non-preemptive real-time
  /// uniprocessor scheduling", INRIA RR-2966, 1996. nil for a task whose response time has no bound because the lane is
  /// overloaded.
  public static func responseTimes(_ tasks: [Task]) -> [Nanoseconds?] {
    tasks.indices.map { index in
      responseTime(
        of: tasks[index], after: Array(tasks[..<index]),
        blockedBy: tasks[(index + 1)...].map(\.executionTime.count).max() ?? 0)
    }
  }

  /// The tasks that may miss their deadlines, each with its worst-case response time.
  public static func misses(_ tasks: [Task]) -> [(task: Task, responseTime: Nanoseconds?)] {
    zip(tasks, responseTimes(tasks)).compactMap { task, response in
      if let response, response <= task.deadline { nil } else { (task, response) }
    }
  }

  private static func responseTime(of task: Task, after higher: [Task], blockedBy blocking: Int64) -> Nanoseconds? {
    let cost = task.executionTime.count
    let period = task.period.count
    let utilisation = ([task] + higher).reduce(0.0) { $0 + Double($1.executionTime.count) / Double($1.period.count) }
    guard utilisation < 1 || (utilisation == 1 && blocking == 0) else { return nil }
    // The longest time the lane is busy at this priority or above: every tick that starts in it has to be looked at.
    let busy = fixedPoint(from: blocking + cost) { busy in
      blocking + ([task] + higher).reduce(0) { $0 + ceiling(busy, $1.period.count) * $1.executionTime.count }
    }
    guard let busy else { return nil }
    var worst: Int64 = 0
    for job in 0..<max(1, ceiling(busy, period)) {
      // When the job starts: behind the tick that blocks, its own earlier jobs, and all more urgent ones until then.
      let start = fixedPoint(from: blocking + job * cost) { start in
        blocking + job * cost + higher.reduce(0) { $0 + (start / $1.period.count + 1) * $1.executionTime.count }
      }
      guard let start else { return nil }
      worst = max(worst, start + cost - job * period)
    }
    return Nanoseconds(worst)
  }

  /// nil when it is not reached: the lane is overloaded by less than the rounding of its utilisation, or nearly so.
  private static func fixedPoint(from start: Int64, _ next: (Int64) -> Int64) -> Int64? {
    var value = start
    for _ in 0..<100_000 {
      let following = next(value)
      if following == value { return value }
      value = following
    }
    return nil
  }

  /// The phase for loops of these periods, shortest first, that get one together.
  private static func bestPhase(periods: [Int64], placed: [(period: Int64, phase: Int64)]) -> Int64 {
    guard !placed.isEmpty else { return 0 }
    let pairs = periods.flatMap { period in
      placed.map { (common: greatestCommonDivisor(period, $0.period), phase: $0.phase) }
    }
    // Candidates: halfway between neighbouring releases of the loops placed, as seen within the shortest period.
    let period = periods[0]
    var marks: Set<Int64> = []
    for (common, phase) in pairs {
      for multiple in 0..<min(max(1, period / common), 256) { marks.insert((phase + multiple * common) % period) }
    }
    let sorted = marks.sorted()
    var best: (distance: Int64, phase: Int64) = (-1, 0)
    for (index, mark) in sorted.enumerated() {
      let next = index + 1 < sorted.count ? sorted[index + 1] : sorted[0] + period
      let candidate = ((mark + next) / 2) % period
      let distance = pairs.map { common, phase in
        let apart = ((candidate - phase) % common + common) % common
        return min(apart, common - apart)
      }.min()!
      if distance > best.distance || (distance == best.distance && candidate < best.phase) {
        best = (distance, candidate)
      }
    }
    return best.phase
  }

  private static func ceiling(_ value: Int64, _ divisor: Int64) -> Int64 { (value + divisor - 1) / divisor }
}
