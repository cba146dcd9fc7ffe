import Foundation
import Service
import Synchronization
import Tactus

/// Asks a daemon for what `top` shows, one question after the other, and rings when it knows.
final class TopPoller: Sendable {
  enum Answer {
    case sample(TopSample)
    /// The daemon is not there, or not ready: worth another try.
    case unreachable(String)
    /// It will go on refusing: what the user can do.
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

  /// Returns at once. Does nothing while a question is open.
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

  /// The answer to the last question, or `nil` if none has come yet, or it has been taken.
  func takeAnswer() -> Answer? {
    state.withLock { state in
      defer { state.answer = nil }
      return state.answer
    }
  }

  /// nil when the answer is a refusal or none: the question is over then.
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
