import Dispatch
import NIOCore
import Synchronization
public import Tactus

/// Threads for tasks that wait for a disk. They are separate from the threads of all other tasks, of which there are
/// only as many as the host has cores, so that a memory card which stalls for seconds cannot delay an emergency stop.
///
/// Two executors share the threads: `shared` for tasks that change something, and `looks` for tasks that only read. Waiting tasks that change
/// something begin first, and at most two that read have a thread at a time, so a command finds a thread however many readers there are. Work that
/// needs no disk is not done here.
///
/// It may be used from any thread. Tasks of one executor start in the order in which they arrive.
public final class DiskThreads: TaskExecutor {
  private static let four = make(count: 4)
  /// The four threads of the whole process, for tasks that change something.
  public static let shared = four.commands
  /// The four threads of the whole process, for tasks that only read; `shared` has the same threads.
  public static let looks = four.looks
  /// The time for which a request waits for its turn, and for a disk that does not answer.
  public static let patience = Nanoseconds.seconds(10)
  /// The time for which a request waits for work that takes minutes, such as a whole backup.
  public static let longPatience = Nanoseconds.seconds(600)

  private let pool: Pool
  private let onlyLooks: Bool

  /// Makes both executors with `count` threads, at least three.
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

/// The threads, and the jobs that wait for one of them.
private final class Pool: Sendable {
  struct Ready {
    let job: UnownedJob
    let executor: DiskThreads
  }

  private struct State {
    var commands = CircularBuffer<Ready>()
    var looks = CircularBuffer<Ready>()
    /// The number of threads with a job of `looks`.
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
      // A job of `looks` that must wait is taken by the thread that finishes another one.
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

extension DiskThreads {
  /// Does work that may wait for a disk, and returns its result.
  ///
  /// No caller waits for a disk without a limit: work that has found no thread in time is never done, and work that takes too long is no longer
  /// waited for.
  ///
  /// - Parameters:
  ///   - longest: the longest time that the work itself may take.
  ///   - work: the work, which runs on these threads.
  /// - Throws: 503 `DISK_BUSY`, whose message says whether the work has begun; what the work throws.
  public func run<Value: Sendable>(
    longest: Nanoseconds = DiskThreads.patience, _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    try await run(patience: Self.patience, longest: longest, after: { Self.after($0, $1) }, work)
  }

  /// Begins work that goes on elsewhere, and waits for its result no longer than a limit.
  ///
  /// - Parameter begin: begins the work, whose end calls the function that it is given, on any thread.
  /// - Returns: the result, or `nil` if there was none in time. The work goes on all the same.
  /// - Throws: what the work throws in time.
  public static func result<Value: Sendable>(
    within patience: Nanoseconds, _ begin: (_ done: @escaping @Sendable (Result<Value?, any Error>) -> Void) -> Void
  ) async throws -> Value? {
    let wait = DiskWait<Value?>()
    return try await withCheckedThrowingContinuation { continuation in
      wait.hold(continuation)
      wait.limit(after(patience) { wait.end(.success(nil), ifBegun: false) })
      begin { wait.end($0, ifBegun: false) }
    }
  }

  /// Calls a function after a time, and returns a function that prevents the call.
  typealias After = @Sendable (Nanoseconds, @escaping @Sendable () -> Void) -> @Sendable () -> Void

  private static func after(_ time: Nanoseconds, _ act: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    let scheduled = Listener.threads.any().scheduleTask(in: .nanoseconds(time.count), act)
    return { scheduled.cancel() }
  }

  /// Does work on these threads with a limit for its start and one for its duration, and returns its result.
  ///
  /// - Parameter after: calls a function later.
  func run<Value: Sendable>(
    patience: Nanoseconds, longest: Nanoseconds, after: @escaping After,
    _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let wait = DiskWait<Value>()
    return try await withCheckedThrowingContinuation { continuation in
      wait.hold(continuation)
      wait.limit(after(patience) { wait.end(.failure(Self.hasNotBegun), ifBegun: false) })
      Task(executorPreference: self) {
        guard wait.begin() else { return }
        wait.limit(after(longest) { wait.end(.failure(Self.goesOn), ifBegun: true) })
        do {
          wait.end(.success(try await work()), ifBegun: true)
        } catch {
          wait.end(.failure(error), ifBegun: true)
        }
      }
    }
  }

  private static let busyCode = "DISK_BUSY"

  private static var hasNotBegun: APIError {
    APIError(
      .serviceUnavailable, busyCode,
      "the disk had no time for this within \(patience.count / 1_000_000_000) s: nothing was done, nor will it be; try again"
    )
  }

  private static var goesOn: APIError {
    APIError(
      .serviceUnavailable, busyCode,
      "the disk does not answer: this has begun and may still be done; look what has become of it before asking again")
  }
}

/// The caller that waits for a piece of work, until the work has ended or its limit has passed. It may be used from any thread.
private final class DiskWait<Value: Sendable>: Sendable {
  private struct State {
    var continuation: CheckedContinuation<Value, any Error>?
    var hasBegun = false
    /// Cancels the present limit.
    var cancel: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  func hold(_ continuation: CheckedContinuation<Value, any Error>) {
    state.withLock { $0.continuation = continuation }
  }

  /// Sets how the present limit is cancelled, and cancels it if no caller waits any more.
  func limit(_ cancel: @escaping @Sendable () -> Void) {
    let past = state.withLock { state -> (@Sendable () -> Void)? in
      guard state.continuation != nil else { return cancel }
      defer { state.cancel = cancel }
      return state.cancel
    }
    past?()
  }

  /// Returns whether the caller still waits, so that the work is to be done.
  func begin() -> Bool {
    state.withLock { state in
      state.hasBegun = state.continuation != nil
      return state.hasBegun
    }
  }

  /// Gives the result to the caller. Does nothing if no caller waits, or if whether the work has begun differs from
  /// `ifBegun`.
  func end(_ result: Result<Value, any Error>, ifBegun: Bool) {
    typealias Waiting = (continuation: CheckedContinuation<Value, any Error>?, cancel: (@Sendable () -> Void)?)
    let (continuation, cancel) = state.withLock { state -> Waiting in
      guard state.hasBegun == ifBegun else { return (nil, nil) }
      defer { (state.continuation, state.cancel) = (nil, nil) }
      return (state.continuation, state.cancel)
    }
    cancel?()
    continuation?.resume(with: result)
  }
}
