import NIOCore
import Synchronization
public import Tactus

extension DiskThreads {
  /// Does work that may wait for a disk, and returns its result.
  ///
  /// Nobody waits for a disk without an end: work that has found no thread in time is not done, not even later, and of work that takes too long the
  /// end is not waited for.
  ///
  /// - Parameters:
  ///   - longest: how long the work itself may take.
  ///   - work: what is done, on these threads.
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

  /// Calls a function after a time. What is returned keeps it from being called.
  typealias After = @Sendable (Nanoseconds, @escaping @Sendable () -> Void) -> @Sendable () -> Void

  private static func after(_ time: Nanoseconds, _ act: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    let scheduled = Listener.threads.any().scheduleTask(in: .nanoseconds(time.count), act)
    return { scheduled.cancel() }
  }

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

/// Who waits for a piece of work, until one of its end and its limit has come. Usable from any thread.
private final class DiskWait<Value: Sendable>: Sendable {
  private struct State {
    var continuation: CheckedContinuation<Value, any Error>?
    var hasBegun = false
    /// Takes back the limit that is set.
    var cancel: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  func hold(_ continuation: CheckedContinuation<Value, any Error>) {
    state.withLock { $0.continuation = continuation }
  }

  /// Notes how the present limit is taken back, and takes it back if nobody waits any more.
  func limit(_ cancel: @escaping @Sendable () -> Void) {
    let past = state.withLock { state -> (@Sendable () -> Void)? in
      guard state.continuation != nil else { return cancel }
      defer { state.cancel = cancel }
      return state.cancel
    }
    past?()
  }

  /// Returns whether somebody still waits, so that the work is to be done.
  func begin() -> Bool {
    state.withLock { state in
      state.hasBegun = state.continuation != nil
      return state.hasBegun
    }
  }

  /// Gives the result to who waits; does nothing if nobody does, or if the work has begun and the result is one of work that has not.
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
