import Foundation
import Service
import Synchronization
import Tactus

/// Requests the data that `top` shows from a daemon, one request after another, and rings a bell when an answer has arrived.
final class TopPoller: Sendable {
  enum Answer {
    case sample(TopSample)
    /// The daemon is unreachable or not ready, and another attempt may succeed.
    case unreachable(String)
    /// The daemon will keep refusing; the text says what the user can do.
    case refused(String)
  }

  private let client: ServiceClient
  private let hasToken: Bool
  private let bell: DoorbellButton
  private let state = Mutex(State())

  private struct State {
    var isAsking = false
    var answer: Answer?
  }

  init(_ client: ServiceClient, hasToken: Bool, bell: DoorbellButton) {
    (self.client, self.hasToken, self.bell) = (client, hasToken, bell)
  }

  /// Sends a request without waiting for its answer. Does nothing while a request is in progress.
  func ask() {
    let isFree = state.withLock { state in
      defer { state.isAsking = true }
      return !state.isAsking
    }
    guard isFree else { return }
    client.get("/api/runtime?histograms=1") { [self] runtime in
      guard let runtime = body(of: runtime) else { return }
      client.get("/api/status") { [self] status in
        guard let status = body(of: status) else { return }
        finish(
          TopSample(runtime: runtime, status: status).map(Answer.sample)
            ?? .refused("\(client.address) answers, but not as this version of \(DaemonProgram.current.name) does"))
      }
    }
  }

  /// Returns the answer to the last request, or `nil` if none has arrived or it has been taken.
  func takeAnswer() -> Answer? {
    state.withLock { state in
      defer { state.answer = nil }
      return state.answer
    }
  }

  /// Returns the body of an answer, or `nil` if there is no answer or it is a refusal, which ends the request.
  private func body(of result: Result<ServiceClient.Answer, ServiceClient.Failure>) -> [UInt8]? {
    switch result {
    case .failure(let failure): finish(.unreachable("\(failure)"))
    case .success(let answer) where answer.status == 200: return answer.body
    case .success(let answer): finish(refusal(answer))
    }
    return nil
  }

  private func refusal(_ answer: ServiceClient.Answer) -> Answer {
    struct Document: Decodable {
      var code: String
      var message: String
    }
    let host = client.address
    let document = try? JSONDecoder().decode(Document.self, from: Data(answer.body))
    let reason = document.map { " (\($0.code): \($0.message))" } ?? ""
    return switch answer.status {
    case 401 where !hasToken:
      .refused("\(host) asks for a token: give --token-file FILE or set TACTUS_TOKEN\(reason)")
    case 401: .refused("\(host) does not accept this token\(reason)")
    case 403: .refused("\(host) does not let this token look\(reason)")
    case 404: .refused("\(host) answers, but has no /api/runtime: is it tactus?")
    case 429, 500...: .unreachable("status \(answer.status)\(reason)")
    default: .refused("\(host) answers with status \(answer.status)\(reason)")
    }
  }

  private func finish(_ answer: Answer) {
    state.withLock { $0 = State(isAsking: false, answer: answer) }
    bell.ring()
  }
}
