import Dispatch
import Synchronization
public import Testing

/// Runs each test on a thread of its own, a few at a time over all suites.
///
/// For tests that block (on a socket, a child process, a loop) or compute for long: the threads on which tasks run are as many
/// as the machine has cores, and a server under test has its requests answered there. Two blocking tests on them would stop
/// every server of every other test on two cores.
public struct OwnThread: SuiteTrait, TestTrait, TestScoping {
  public var isRecursive: Bool { true }

  /// So many that waiting tests leave no core idle; so few that none is starved by the rest.
  private static let turns = Turns(3)

  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    await Self.turns.take()
    defer { Self.turns.giveBack() }
    try await withTaskExecutorPreference(QueueExecutor()) { try await function() }
  }

  private final class QueueExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "test")

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }
}

extension Trait where Self == OwnThread {
  public static var ownThread: Self { OwnThread() }
}

/// So many at once, the others in the order in which they came.
private final class Turns: Sendable {
  private let state: Mutex<(free: Int, waiting: [CheckedContinuation<Void, Never>])>

  init(_ count: Int) { state = Mutex((count, [])) }

  func take() async {
    await withCheckedContinuation { task in
      let isFree = state.withLock { state in
        if state.free == 0 {
          state.waiting.append(task)
          return false
        }
        state.free -= 1
        return true
      }
      if isFree { task.resume() }
    }
  }

  func giveBack() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      if !state.waiting.isEmpty { return state.waiting.removeFirst() }
      state.free += 1
      return nil
    }
    next?.resume()
  }
}
