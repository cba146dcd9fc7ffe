import Service
import Synchronization

/// Outcomes of frames, of any thread.
package final class Outcomes: Sendable {
  private let list = Mutex<[FrameOutcome]>([])

  package init() {}

  package func append(_ outcome: FrameOutcome) { list.withLock { $0.append(outcome) } }

  /// Replies as text, refusals as their code.
  package var words: [String] {
    list.withLock { list in
      list.map { outcome in
        switch outcome {
        case .reply(let bytes): String(decoding: bytes, as: UTF8.self)
        case .refused(let error): error.code
        }
      }
    }
  }
}

extension Caller {
  package static let one = Caller(scope: .control, tokenID: "one", address: "10.0.0.7", client: 1)
  package static let two = Caller(scope: .control, tokenID: "two", address: "10.0.0.8", client: 2)
}

extension Task where Failure == any Error {
  /// The API's error that the task ends with; nil when it ends well.
  package var refusal: APIError? {
    get async {
      do {
        _ = try await value
        return nil
      } catch {
        return error as? APIError
      }
    }
  }
}
