import CTactus
import Synchronization

/// Counts how often a SCHED_DEADLINE thread uses up its processor time in a period, derived from the thread's processor time alone.
///
/// A plain value of a pointer and numbers. The lane's thread updates it at the end of each tick. See `LaneStatistics.budgetsUsedUp`.
struct ProcessorBudget: BitwiseCopyable {
  let runtime: Int64
  let usedUp: UnsafeMutablePointer<Atomic<Int64>>
  /// The thread's processor time, in nanoseconds, that has been accounted for.
  private var charged: Int64 = 0
  private var used: Int64 = 0

  init(runtime: Int64, usedUp: UnsafeMutablePointer<Atomic<Int64>>) {
    self.runtime = runtime
    self.usedUp = usedUp
  }

  /// Creates the account of a lane's thread. The result is `nil` if the lane is not scheduled by SCHED_DEADLINE.
  init?(_ lane: LaneRun) {
    guard case .deadline(let runtime, _, _) = lane.scheduling else { return nil }
    self.init(runtime: runtime.count, usedUp: lane.budgetsUsedUp)
  }

  /// Starts the account at this processor time. Processor time that the thread used earlier does not count.
  mutating func begin(at processorTime: Int64) { charged = processorTime }

  /// Charges the budget with the processor time that the thread has used.
  ///
  /// - Parameter thenSleeps: whether the thread sleeps next and therefore wakes up with a fresh budget.
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
