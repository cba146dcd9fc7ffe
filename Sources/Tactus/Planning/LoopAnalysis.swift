/// The analysis of whether a loop can meet its deadline beside the other loops of its lane, whatever their phases are.
public struct LoopAnalysis: Sendable, Hashable {
  /// The name of the loop.
  public let loop: String
  /// The name of the lane that owns the loop.
  public let lane: String
  /// The longest execution time of a tick: the declared time, or else the longest time measured since the start, or else 0.
  public let executionTime: Nanoseconds
  /// Whether `executionTime` was measured, because the loop does not declare one.
  public let isMeasured: Bool
  /// The time after a release by which its tick has to end.
  public let deadline: Nanoseconds
  /// The longest time from a release to the end of its tick, or `nil` if the lane is overloaded.
  public let responseTime: Nanoseconds?

  /// Whether the response time is within the deadline. The result is `false` if the lane is overloaded.
  public var meetsDeadline: Bool { responseTime.map { $0 <= deadline } ?? false }
}

extension Runtime {
  /// Returns the response-time analysis of every lane, based on the declared execution times and, where none is declared, on
  /// measured ones. A measured time includes everything that delayed the tick, so the result is pessimistic on a machine without
  /// real-time scheduling.
  public func analysis() -> [LoopAnalysis] {
    lanes.flatMap { lane in
      let loops = (0..<lane.loopCount).map { lane.statistics(of: $0) }
      let tasks = zip(loops, lane.executionTimes).map { loop, declared in
        Planner.Task(
          name: loop.name, period: loop.period, deadline: loop.deadline,
          executionTime: declared ?? loop.execution.maximum ?? .zero)
      }
      return zip(tasks.indices, Planner.responseTimes(tasks)).map { index, response in
        LoopAnalysis(
          loop: tasks[index].name, lane: lane.name, executionTime: tasks[index].executionTime,
          isMeasured: lane.executionTimes[index] == nil, deadline: tasks[index].deadline, responseTime: response)
      }
    }
  }
}
