import Service
import Synchronization
import Tactus
import TactusDaemon

/// The answers that a declared system's clients have received, in the order of receipt.
final class DeclaredAnswers: Sendable {
  enum Kind { case command, stop, reset }
  enum Outcome: Equatable {
    case accepted
    case refused(String)
    case stale
    /// The loop did not answer in time.
    case notTaken
    /// The request was refused because the loop's queue was full.
    case busy
    /// The request was refused because a stop that arrived later had been sent.
    case overtaken
  }

  struct Told {
    let number: UInt64
    let kind: Kind
    let makesSafe: Bool
    let outcome: Outcome

    /// Returns whether the answer ends an emergency stop: an accepted reset, or a reset refused because nothing needed one.
    func leavesStop(nothingToReset word: String?) -> Bool {
      guard kind == .reset else { return false }
      if case .refused(let refusal) = outcome { return refusal == word }
      return outcome == .accepted
    }
  }

  private let told = Mutex<[Told]>([])

  func note<Refusal: RefusalWord>(
    _ number: UInt64, _ kind: Kind, makesSafe: Bool, _ result: Result<Answer<Refusal>, APIError>
  ) {
    let outcome: Outcome
    switch result {
    case .success(let answer):
      switch answer.verdict {
      case .accepted: outcome = .accepted
      case .refused(let refusal): outcome = .refused(refusal.rawValue)
      case .stale: outcome = .stale
      }
    case .failure(let error):
      outcome = error.code == "BUSY" ? .busy : error.isOvertaken ? .overtaken : .notTaken
    }
    told.withLock { $0.append(Told(number: number, kind: kind, makesSafe: makesSafe, outcome: outcome)) }
  }

  /// Removes the last answer if it says that this request was refused before the loop had it, and returns why, or `nil`
  /// if the loop has it.
  func takeRefusal(_ number: UInt64) -> Outcome? {
    told.withLock { told in
      guard let last = told.last, last.number == number, [.busy, .overtaken].contains(last.outcome) else { return nil }
      return told.removeLast().outcome
    }
  }

  func take() -> [Told] {
    told.withLock { told in
      defer { told = [] }
      return told
    }
  }

  func forget() { told.withLock { $0 = [] } }
}
