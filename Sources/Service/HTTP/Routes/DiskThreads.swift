import Dispatch
import NIOCore
import Synchronization
public import Tactus

/// Threads for tasks that wait for a disk. They are separate from the threads of all other tasks, of which there are
/// only as many as the host has cores, so that a memory card which stalls for seconds cannot delay an emergency stop.
///
/// There are two executors of the same threads, `shared` for what changes something and `looks` for what only looks. Of all that waits, what changes
/// something begins first, and at most two looks have a thread at a time: however many readers there are, a command finds a thread. Nothing is
/// computed here that needs no disk.
///
/// Usable from any thread. Tasks of one executor start in the order in which they arrive.
public final class DiskThreads: TaskExecutor {
  private static let four = make(count: 4)
  /// The four threads that the whole process shares, for what changes something.
  public static let shared = four.commands
  /// The same threads, for what only looks.
  public static let looks = four.looks
  /// How long a request waits for its turn, and for a disk that does not answer.
  public static let patience = Nanoseconds.seconds(10)
  /// How long a request waits for work of minutes: for a whole backup, say.
  public static let longPatience = Nanoseconds.seconds(600)

  private let pool: Pool
  private let onlyLooks: Bool

  /// Makes both executors of so many threads, at least three.
  static func make(count: Int) -> (commands: DiskThreads, looks: DiskThreads) {
    let pool = Pool(count: count)
    return (DiskThreads(pool, onlyLooks: false), DiskThreads(pool, onlyLooks: true))
  }

  private init(_ pool: Pool, onlyLooks: Bool) { (self.pool, self.onlyLooks) = (pool, onlyLooks) }

  /// Adds a job without waiting; called by the concurrency runtime for each job of a task that prefers this executor.
  public func enqueue(_ job: consuming ExecutorJob) {
    pool.add(Pool.Ready(job: UnownedJob(job), executor: self), isLook: onlyLooks)
  }
}

/// The threads, and what waits for one of them.
private final class Pool: Sendable {
  struct Ready {
    let job: UnownedJob
    let executor: DiskThreads
  }

  private struct State {
    var commands = CircularBuffer<Ready>()
    var looks = CircularBuffer<Ready>()
    /// How many threads a look has.
    var looking = 0
    /// The serial queues without work. Each queue occupies a thread only while it has work, however long that takes.
    var idle: [DispatchQueue]
  }

  private let state: Mutex<State>
  private let mostLooks: Int

  init(count: Int) {
    mostLooks = count - 2
    state = Mutex(State(idle: (0..<count).map { DispatchQueue(label: "tactus.disk-\($0)") }))
  }

  func add(_ ready: Ready, isLook: Bool) {
    let queue: DispatchQueue? = state.withLock { state in
      if isLook { state.looks.append(ready) } else { state.commands.append(ready) }
      // A look that must wait is taken by the thread that ends one.
      return isLook && state.looking >= mostLooks ? nil : state.idle.popLast()
    }
    guard let queue else { return }
    queue.async { self.work(on: queue) }
  }

  private func work(on queue: DispatchQueue) {
    var wasLook = false
    while let (ready, isLook) = next(for: queue, after: wasLook) {
      ready.job.runSynchronously(on: ready.executor.asUnownedTaskExecutor())
      wasLook = isLook
    }
  }

  /// Returns the next job that may begin, or marks the queue as idle and returns `nil`.
  private func next(for queue: DispatchQueue, after wasLook: Bool) -> (Ready, isLook: Bool)? {
    state.withLock { state in
      if wasLook { state.looking -= 1 }
      if let command = state.commands.popFirst() { return (command, false) }
      if state.looking < mostLooks, let look = state.looks.popFirst() {
        state.looking += 1
        return (look, true)
      }
      state.idle.append(queue)
      return nil
    }
  }
}
