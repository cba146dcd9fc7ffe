/// Whether a loop can meet its deadline beside the others of its lane, whatever their phases.
public struct LoopAnalysis: Sendable, Hashable {
  /// The name of the loop.
  public let loop: String
  /// The name of the lane that owns the loop.
  public let lane: String
  /// The longest a tick takes: as declared, else the longest measured since the start, else 0.
  public let executionTime: Nanoseconds
  /// Whether `executionTime` was measured, because the loop does not declare one.
  public let isMeasured: Bool
  /// By when a tick has to end after its release.
  public let deadline: Nanoseconds
  /// Worst case from a release to the end of its tick; `nil` when the lane is overloaded.
  public let responseTime: Nanoseconds?

  /// Whether the worst case is within the deadline. False when the lane is overloaded.
  public var meetsDeadline: Bool { responseTime.map { $0 <= deadline } ?? false }
}

extension Runtime {
  /// Response-time analysis of every lane with what is declared and, for the rest, what has been measured. A measured time
  /// contains whatever held the tick up, so on a machine without real-time scheduling it is pessimistic.
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
