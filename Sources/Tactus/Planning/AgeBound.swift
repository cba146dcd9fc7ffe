extension Planner {
  /// The way in which a loop gets its input from the previous loop on the path of the data.
  public enum Handover: Sendable, Hashable {
    /// Both loops are of one lane, the loop runs after the previous one, and each of its releases coincides with one of the previous loop.
    case inOrder
    /// Both loops are of one lane, and the previous loop is the more urgent one.
    case fromMoreUrgent
    /// The previous loop is in another lane, or is less urgent than this loop in the same lane.
    case free
  }

  /// A loop on the path of data from a sensor to an actuator.
  public struct Step: Sendable, Hashable {
    /// The time from one release of the loop to the next, more than 0.
    public var period: Nanoseconds
    /// The longest execution time of a tick.
    public var executionTime: Nanoseconds
    /// The longest time from a release to the end of its tick, or `nil` if that time has no bound.
    public var responseTime: Nanoseconds?
    /// The way in which the data comes from the previous loop. It has no meaning for the first loop.
    public var handover: Handover

    /// Creates a loop whose data comes from another lane or from a less urgent loop of its lane, unless `handover` says
    /// otherwise.
    public init(
      period: Nanoseconds, executionTime: Nanoseconds, responseTime: Nanoseconds?, handover: Handover = .free
    ) {
      self.period = period
      self.executionTime = executionTime
      self.responseTime = responseTime
      self.handover = handover
    }
  }

  /// Returns the greatest age that data can have at the end of the tick that uses it last, counted from the start of the tick that
  /// measured it. Every loop on the path uses the newest value that the previous loop has published.
  ///
  /// With period T, execution time C and response time R of each loop, n the last one:
  ///
  ///     age ≤ C(n) + Σ over handovers from loop i to loop k
  ///         T(i) + R(i)    free: the value taken is from a tick whose successor, released a period later, had not ended
  ///         T(i)           from a more urgent loop of the same lane: when k starts, no release of i waits
  ///         R(k) − C(k)    in order, once for handovers in a row with the last k: all of them ran for k's own release
  ///
  /// The sum of T + R over a path is Davare, Zhu, Di Natale, Pinello, Kanajan, Sangiovanni-Vincentelli, "Period optimization
  /// for hard real-time distributed automotive systems", DAC 2007, where it also contains the first loop's wait for an event
  /// and the last one's period, which an age does not. That R falls away behind a more urgent loop of the same processor is
  /// Dürr, von der Brüggen, Chen, Chen, "End-to-end timing analysis of sporadic cause-effect chains in distributed systems",
  /// ACM TECS 18 (5s), 2019.
  ///
  /// The bound holds for loops that miss no release, so the result is `nil` unless each response time is less than the period. The
  /// bound does not include the kernel's lateness, nor the time that values wait in a ring behind others.
  public static func longestAge(along path: [Step]) -> Nanoseconds? {
    guard let last = path.last else { return nil }
    for step in path { guard let response = step.responseTime, response < step.period else { return nil } }
    var age = last.executionTime
    for (index, step) in path.enumerated().dropFirst() {
      let before = path[index - 1]
      switch step.handover {
      case .free: age = age + before.period + before.responseTime!
      case .fromMoreUrgent: age = age + before.period
      case .inOrder:
        let goesOn = index + 1 < path.count && path[index + 1].handover == .inOrder
        if !goesOn { age = age + step.responseTime! - step.executionTime }
      }
    }
    return age
  }

  /// Returns the greatest age that data from outside the runtime can have at the end of the tick that uses it, counted from its
  /// arrival. Each tick uses all data that has arrived.
  ///
  /// With period T, execution time C and response time R of the loop:
  ///
  ///     age ≤ T + R             the tick before began just before the arrival, and the next one is released a period later
  ///     age ≤ max(m, C) + C     the arrival releases the loop, which is alone in its lane, at most once in the interval m
  ///
  /// The smaller bound holds. The result is `nil` unless the response time is less than the period. The bound does not include the
  /// kernel's lateness, nor the time from the stamp of the data to its arrival.
  ///
  /// - Parameters:
  ///   - step: the loop.
  ///   - interval: the loop's `minimumInterval`, or `nil` if the arrival does not release the loop or if other loops share its lane.
  public static func longestAge(ofArrivalsAt step: Step, releasingAtMostEvery interval: Nanoseconds? = nil)
    -> Nanoseconds?
  {
    guard let response = step.responseTime, response < step.period else { return nil }
    let waiting = step.period + response
    guard let interval else { return waiting }
    return min(waiting, max(interval, step.executionTime) + step.executionTime)
  }
}

/// The planner's data on the loops of a runtime, from one reading of its statistics.
struct AgeBounds {
  private struct Known {
    var lane: LaneRun
    /// The loop's rank in the lane.
    var index: Int
    var statistics: LoopStatistics
    var executionTime: Nanoseconds
    var responseTime: Nanoseconds?
  }

  private var known: [String: Known] = [:]

  init(lanes: [LaneRun], loops: [LoopStatistics]) {
    var rest = loops[...]
    for lane in lanes {
      let loops = rest.prefix(lane.loopCount)
      rest = rest.dropFirst(lane.loopCount)
      let times = zip(loops, lane.executionTimes).map { $1 ?? $0.execution.maximum }
      // A lane has no bound before each of its loops has ticked.
      guard !times.contains(nil) else { continue }
      let tasks = zip(loops, times).map { Planner.Task(name: $0.name, period: $0.period, executionTime: $1!) }
      for (index, (loop, response)) in zip(loops, Planner.responseTimes(tasks)).enumerated() {
        known[loop.name] = Known(
          lane: lane, index: index, statistics: loop, executionTime: times[index]!, responseTime: response)
      }
    }
  }

  /// Returns the bound of an age, or `nil` if the age has none.
  ///
  /// - Returns: the bound, and whether a measured execution time is in it.
  func bound(of age: AgeStatistics) -> (Nanoseconds, isMeasured: Bool)? {
    switch age.arrival {
    case nil: bound(along: age.path)
    case .releasesLoop: boundOfArrivals(at: age.path[0], isReleasing: true)
    case .awaitsLoop: boundOfArrivals(at: age.path[0], isReleasing: false)
    case .unknown: nil
    }
  }

  private func boundOfArrivals(at name: String, isReleasing: Bool) -> (Nanoseconds, isMeasured: Bool)? {
    guard let loop = known[name] else { return nil }
    let step = Planner.Step(
      period: loop.statistics.period, executionTime: loop.executionTime, responseTime: loop.responseTime)
    let isAlone = loop.lane.loopCount == 1
    let interval = isReleasing && isAlone ? loop.lane.minimumIntervals[loop.index] : nil
    return Planner.longestAge(ofArrivalsAt: step, releasingAtMostEvery: interval)
      .map { ($0, loop.lane.executionTimes.contains(nil)) }
  }

  private func bound(along path: [String]) -> (Nanoseconds, isMeasured: Bool)? {
    var steps: [Planner.Step] = []
    var isMeasured = false
    var before: Known?
    for name in path {
      guard let loop = known[name] else { return nil }
      // The response time includes the other loops of the lane, so one measured execution time makes the bound a measured one.
      isMeasured = isMeasured || loop.lane.executionTimes.contains(nil)
      steps.append(
        Planner.Step(
          period: loop.statistics.period, executionTime: loop.executionTime, responseTime: loop.responseTime,
          handover: before.map { handover(from: $0, to: loop) } ?? .free))
      before = loop
    }
    return Planner.longestAge(along: steps).map { ($0, isMeasured) }
  }

  private func handover(from one: Known, to other: Known) -> Planner.Handover {
    guard one.lane === other.lane, one.index < other.index else { return .free }
    let counters = other.statistics.counters
    let isOnlyPeriodic = counters.byDeadline == 0 && counters.byInput == 0
    return isOnlyPeriodic && one.lane.coincides(one.index, withEveryReleaseOf: other.index) ? .inOrder : .fromMoreUrgent
  }
}
