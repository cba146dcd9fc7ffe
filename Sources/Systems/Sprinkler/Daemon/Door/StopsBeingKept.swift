import Synchronization
import Tactus

/// What has closed valves and is being written down: its client waits a moment for that, and not for a disk that stalls or a store that
/// another program has locked.
///
/// Any thread; nothing here waits.
final class StopsBeingKept: Sendable {
  /// A store on a memory card takes a change within some tens of milliseconds.
  static let patience = Nanoseconds.milliseconds(250)

  /// What its client is told: what came of it, or that it is not kept yet.
  typealias Answer = @Sendable (Result<SprinklerDesk.Done, any Error>) -> Void

  private struct Waiter {
    let number: UInt64
    /// `nil` if it waits for the disk.
    let deadline: TickInstant?
    let answer: Answer
  }

  private struct State {
    var waiting: [Waiter] = []
    var lastNumber: UInt64 = 0
    /// Ends when all that closed valves so far is written down, or has been refused.
    var last: Task<Void, Never>?
  }

  private let state = Mutex(State())

  /// Begins to keep one, behind those before it. `answer` is called once.
  ///
  /// - Parameter deadline: when its client is answered even so, or `nil` if it waits for the disk.
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
        self.take(number)?(result)
      }
    }
  }

  /// Returns when all that closed valves so far is written down, or has been refused: what opens one must not overtake it.
  func settled() async { await state.withLock { $0.last }?.value }

  /// Answers those that have waited long enough.
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

  private func take(_ number: UInt64) -> Answer? {
    state.withLock { state in
      state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0).answer }
    }
  }
}
