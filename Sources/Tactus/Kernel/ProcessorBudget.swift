import CTactus
import Synchronization

/// Counts how often a SCHED_DEADLINE thread uses up the processor time that it has in a period, from that time alone.
///
/// A pointer and numbers: the lane's thread charges it at the end of each tick. See `LaneStatistics.budgetsUsedUp`.
struct ProcessorBudget: BitwiseCopyable {
  let runtime: Int64
  let usedUp: UnsafeMutablePointer<Atomic<Int64>>
  /// The thread's processor time up to which it is charged, and what of it was used since the last sleep and since the last
  /// budget that was used up.
  private var charged: Int64 = 0
  private var used: Int64 = 0

  init(runtime: Int64, usedUp: UnsafeMutablePointer<Atomic<Int64>>) {
    self.runtime = runtime
    self.usedUp = usedUp
  }

  /// `nil` for a lane with another scheduling.
  init?(_ lane: LaneRun) {
    guard case .deadline(let runtime, _, _) = lane.scheduling else { return nil }
    self.init(runtime: runtime.count, usedUp: lane.budgetsUsedUp)
  }

  /// What the thread did before does not count.
  mutating func begin(at processorTime: Int64) { charged = processorTime }

  /// - Parameter thenSleeps: a sleep follows, from which the thread wakes with a budget of its own.
  @_noLocks @_noAllocation
  mutating func charge(until processorTime: Int64, thenSleeps: Bool) {
    used &+= processorTime &- charged
    charged = processorTime
    if used > runtime {
      // A budget that is used to its last nanosecond stops no thread.
      let budgets = (used &- 1) / runtime
      usedUp.pointee.store(usedUp.pointee.load(ordering: .relaxed) &+ budgets, ordering: .relaxed)
      used &-= budgets &* runtime
    }
    if thenSleeps { used = 0 }
  }
}
