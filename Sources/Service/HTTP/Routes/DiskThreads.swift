import Dispatch
import NIOCore
import Synchronization

/// Threads for what waits for a disk, apart from those of all other tasks, of which there are only as many as the machine has
/// cores: a memory card that stalls for seconds must not keep an emergency stop from being carried out.
///
/// Usable from any thread. Tasks are taken in their order, `count` at a time.
public final class DiskThreads: TaskExecutor {
  /// The threads of the whole process: four.
  public static let shared = DiskThreads(count: 4)

  private struct State {
    var jobs = CircularBuffer<UnownedJob>()
    /// A serial queue is a thread while it has something to do, however long that takes.
    var idle: [DispatchQueue]
  }

  private let state: Mutex<State>

  init(count: Int) {
    state = Mutex(State(idle: (0..<count).map { DispatchQueue(label: "tactus.disk-\($0)") }))
  }

  /// Called by the concurrency runtime for each job of a task that prefers this executor. Returns at once.
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

  /// Returns the next task. Without one it returns `nil`, and the queue is idle from then on.
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
