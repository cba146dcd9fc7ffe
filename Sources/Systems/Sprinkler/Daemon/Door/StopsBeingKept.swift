import Synchronization
import Tactus

/// The stops that have closed valves and are being stored. Their clients wait for that only a short time, not for a stalled disk or for a
/// store that another process has locked.
///
/// May be used from any thread; no function blocks.
final class StopsBeingKept: Sendable {
  /// The time for which a client waits. A store on a memory card takes some tens of milliseconds for a change.
  static let patience = Nanoseconds.milliseconds(250)

  /// The client's callback, called with the result, or with a success whose `storeFailure` says that the change is not stored yet.
  typealias Answer = @Sendable (Result<SprinklerDesk.Done, any Error>) -> Void

  private struct Waiter {
    let number: UInt64
    /// The instant at which the client is answered in any case, or `nil` if the client waits for the disk.
    let deadline: TickInstant?
    let answer: Answer
  }

  private struct State {
    var waiting: [Waiter] = []
    var lastNumber: UInt64 = 0
    /// A task that ends when all stops so far are stored or have been refused.
    var last: Task<Void, Never>?
  }

  private let state = Mutex(State())

  /// Begins to store a stop, after those before it. `answer` is called once.
  ///
  /// - Parameters:
  ///   - deadline: the instant at which the client is answered even if the stop is not stored yet, or `nil` if the client waits for the disk.
  ///   - work: stores the stop.
  ///   - answer: the client's callback.
  func keep(
    until deadline: TickInstant?, _ work: @escaping @Sendable () async throws -> SprinklerDesk.Done,
    _ answer: @escaping Answer
  ) {
    state.withLock { state in
      state.lastNumber += 1
      let (number, before) = (state.lastNumber, state.last)
      state.waiting.append(Waiter(number: number, deadline: deadline, answer: answer))
      state.last = Task {
        await before?.value
        let result: Result<SprinklerDesk.Done, any Error>
        do { result = .success(try await work()) } catch { result = .failure(error) }
        self.remove(number)?(result)
      }
    }
  }

  /// Waits until all stops so far are stored or have been refused. A command that opens a valve must call this first, so that it does not overtake a
  /// stop.
  func settled() async { await state.withLock { $0.last }?.value }

  /// Answers the clients whose deadline has passed.
  func answerOverdue(at now: TickInstant) {
    let overdue = state.withLock { state in
      let isOverdue: (Waiter) -> Bool = { $0.deadline.map { $0 <= now } ?? false }
      defer { state.waiting.removeAll(where: isOverdue) }
      return state.waiting.filter(isOverdue)
    }
    for waiter in overdue {
      waiter.answer(.success(SprinklerDesk.Done(runs: [], programs: [], storeFailure: "the disk has not answered yet")))
    }
  }

  private func remove(_ number: UInt64) -> Answer? {
    state.withLock { state in
      state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0).answer }
    }
  }
}
