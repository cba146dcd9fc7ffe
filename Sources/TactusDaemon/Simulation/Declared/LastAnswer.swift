import Service
import Synchronization
import Tactus

/// The answers to commands: the last one, and those that are not on the timeline yet.
final class LastAnswer: Sendable {
  private struct Answers {
    var last = "nothing yet"
    var fresh: [String] = []
  }
  private let answers = Mutex(Answers())

  var last: String { answers.withLock { $0.last } }

  func note<Refusal: RefusalWord>(_ result: Result<Answer<Refusal>, APIError>) {
    switch result.flatMap({ answer in Result { () throws(APIError) in try answer.accepted { $0.sentence } } }) {
    case .success: note("accepted", "accepted")
    case .failure(let error): note(error.code, "\(error.code): \(error.message)")
    }
  }

  func note(_ result: Result<Never, APIError>) {
    if case .failure(let error) = result { note(error.code, "\(error.code): \(error.message)") }
  }

  private func note(_ word: String, _ line: String) {
    answers.withLock { answers in
      answers.last = word
      answers.fresh.append(line)
    }
  }

  func take() -> [String] {
    answers.withLock { answers in
      defer { answers.fresh = [] }
      return answers.fresh
    }
  }
}
