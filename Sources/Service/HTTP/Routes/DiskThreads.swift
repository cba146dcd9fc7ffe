import Dispatch
import NIOCore
import Synchronization

/// Threads for tasks that wait for a disk. They are separate from the threads of all other tasks, of which there are
/// only as many as the host has cores, so that a memory card which stalls for seconds cannot delay an emergency stop.
///
/// Usable from any thread. Tasks start in the order in which they arrive, `count` at a time.
public final class DiskThreads: TaskExecutor {
  /// The four threads that the whole process shares.
  public static let shared = DiskThreads(count: 4)

  private struct State {
    var jobs = CircularBuffer<UnownedJob>()
    /// The serial queues without work. Each queue occupies a thread only while it has work, however long that takes.
    var idle: [DispatchQueue]
  }

  private let state: Mutex<State>

  init(count: Int) {
    state = Mutex(State(idle: (0..<count).map { DispatchQueue(label: "tactus.disk-\($0)") }))
  }

  /// Adds a job without waiting; called by the concurrency runtime for each job of a task that prefers this executor.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let queue = state.withLock { state in
      state.jobs.append(job)
      return state.idle.popLast()
    }
    guard let queue else { return }
    queue.async { self.work(on: queue) }
  }

  private func work(on queue: DispatchQueue) {
    while let job = next(for: queue) { job.runSynchronously(on: asUnownedTaskExecutor()) }
  }

  /// Returns the next job. If there is none, marks the queue as idle and returns `nil`.
  private func next(for queue: DispatchQueue) -> UnownedJob? {
    state.withLock { state in
      guard let job = state.jobs.popFirst() else {
        state.idle.append(queue)
        return nil
      }
      return job
    }
  }
}
