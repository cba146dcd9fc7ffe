import Glibc
import NIOPosix

/// Threads for tasks that only look: they make documents of states, tables and metrics. A reader costs processor time and nobody's safety, so they
/// are of a lower priority than every other thread: with as many readers as there may be, a command finds the processor free.
///
/// Usable from any thread. Tasks start in the order in which they arrive, `count` at a time.
final class LookThreads: TaskExecutor {
  /// The threads that the whole process shares.
  static let shared = LookThreads(count: 2)
  /// The least urgent of what is not idle only.
  private static let niceness: CInt = 10

  private let pool: NIOThreadPool

  init(count: Int) {
    pool = NIOThreadPool(numberOfThreads: count)
    pool.start()
  }

  /// Adds a job without waiting; called by the concurrency runtime for each job of a task that prefers this executor.
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    pool.submit { _ in
      // Of the calling thread alone: on Linux each has a priority of its own.
      setpriority(__priority_which_t(bitPattern: PRIO_PROCESS.rawValue), 0, Self.niceness)
      job.runSynchronously(on: self.asUnownedTaskExecutor())
    }
  }
}
