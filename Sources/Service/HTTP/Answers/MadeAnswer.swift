import Synchronization

/// A handler's response, and the answer that is written to its client.
struct MadeAnswer: Sendable {
  /// The response without its body.
  let response: APIResponse
  var answer: APIAnswer

  init(_ response: APIResponse) {
    answer = APIAnswer(response)
    var rest = response
    rest.body = []
    self.response = rest
  }
}

/// An answer that is the same for everyone, made once for all requests that wait for it. It may be used from any thread.
///
/// No request gets an answer whose making began before the request. It waits for the next one, together with all others that arrive meanwhile.
final class CommonAnswer: Sendable {
  private struct State {
    var isMaking = false
    var waiting: [CheckedContinuation<MadeAnswer, any Error>] = []
  }

  private let state = Mutex(State())

  /// The number of requests that wait for the next answer.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Waits for an answer that is made from now on.
  ///
  /// - Parameter make: makes the answer, unless the function of another request makes it for both.
  func answer(_ make: @escaping @Sendable () async throws -> MadeAnswer) async throws -> MadeAnswer {
    try await withCheckedThrowingContinuation { continuation in
      let begins = state.withLock { state in
        state.waiting.append(continuation)
        defer { state.isMaking = true }
        return !state.isMaking
      }
      if begins { Task(executorPreference: LookThreads.shared) { await self.makeAnswers(make) } }
    }
  }

  private func makeAnswers(_ make: @Sendable () async throws -> MadeAnswer) async {
    while true {
      let asked = state.withLock { state in
        defer { state.waiting = [] }
        state.isMaking = !state.waiting.isEmpty
        return state.waiting
      }
      if asked.isEmpty { return }
      let result: Result<MadeAnswer, any Error>
      do {
        var made = try await make()
        made.answer.isShared = true
        result = .success(made)
      } catch {
        result = .failure(error)
      }
      for one in asked { one.resume(with: result) }
    }
  }
}
