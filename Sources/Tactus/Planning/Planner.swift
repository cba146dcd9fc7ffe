/// Plans the loops of one lane: phases that keep releases apart, and whether every loop can meet its deadline.
public enum Planner {
  /// A loop as the planner sees it.
  public struct Task: Sendable, Hashable {
    /// The name of the loop.
    public var name: String
    /// The time between two releases, more than 0.
    public var period: Nanoseconds
    /// The time after a release by which its tick has to end. The analysis holds only for deadlines up to the period.
    public var deadline: Nanoseconds
    /// The longest execution time of a tick, declared or measured.
    public var executionTime: Nanoseconds

    /// Creates a task with these times. The default deadline is the period.
    public init(name: String, period: Nanoseconds, deadline: Nanoseconds? = nil, executionTime: Nanoseconds) {
      self.name = name
      self.period = period
      self.deadline = deadline ?? period
      self.executionTime = executionTime
    }
  }

  /// Returns phases for loops with these periods such that the smallest distance between any two releases, at any time, is as large
  /// as a greedy choice can make it. Given phases are kept.
  ///
  /// Releases of two loops are never closer than their phases are apart modulo the greatest common divisor of their periods. The
  /// loops are placed one after another, the shortest period first, each at the phase with the largest distance to the loops
  /// already placed; of equal choices the smallest phase is taken. At most 64 loops are compared. Further loops, and loops without
  /// a usable common divisor, are spread evenly.
  ///
  /// - Parameters:
  ///   - periods: the period of each loop, more than 0.
  ///   - given: for each loop the phase that it keeps, or `nil` for a phase to be chosen.
  ///   - groups: indices of loops that get a common phase, apart from all other loops.
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

  /// Returns the worst-case response time of each task: the time from its release to the end of its tick, whatever the phases are.
  ///
  /// `tasks` are ordered as a lane orders its loops, the most urgent first: the shorter period first, and among equal periods the
  /// order of declaration. Non-preemptive fixed-priority scheduling: George, Rivierre, Spuri, "Preemptive and non-preemptive
  /// real-time uniprocessor scheduling", INRIA RR-2966, 1996. The result is `nil` for a task whose response time has no bound
  /// because the lane is overloaded.
  public static func responseTimes(_ tasks: [Task]) -> [Nanoseconds?] {
    tasks.indices.map { index in
      responseTime(
        of: tasks[index], after: Array(tasks[..<index]),
        blockedBy: tasks[(index + 1)...].map(\.executionTime.count).max() ?? 0)
    }
  }

  /// Returns the tasks that may miss their deadlines, each with its worst-case response time.
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

  /// Returns the fixed point of `next`, or `nil` if none is reached because the lane is overloaded, or is within a rounding error of being so.
  private static func fixedPoint(from start: Int64, _ next: (Int64) -> Int64) -> Int64? {
    var value = start
    for _ in 0..<100_000 {
      let following = next(value)
      if following == value { return value }
      value = following
    }
    return nil
  }

  /// Returns the phase for loops with these periods, the shortest first, that share one phase.
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
