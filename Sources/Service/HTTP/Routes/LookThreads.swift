import Glibc
import NIOPosix

/// Threads for tasks that only read: they make documents of states, tables and metrics. No safety depends on these tasks, so the threads have a lower
/// priority than every other thread, and a command finds the processor free however many readers there are.
///
/// It may be used from any thread. Tasks start in the order in which they arrive, `count` at a time.
final class LookThreads: TaskExecutor {
  /// The threads that the whole process shares.
  static let shared = LookThreads(count: 2)
  /// The nice value of the threads; a larger one means a lower priority.
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
      // On Linux this sets the priority of the calling thread alone.
      setpriority(__priority_which_t(bitPattern: PRIO_PROCESS.rawValue), 0, Self.niceness)
      job.runSynchronously(on: self.asUnownedTaskExecutor())
    }
  }
}
