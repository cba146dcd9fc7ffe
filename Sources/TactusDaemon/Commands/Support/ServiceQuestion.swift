import Service
import Synchronization
import Tactus

extension ServiceClient {
  /// Returns the answer to a GET request, for a command that has nothing else to do. Blocks for at most `limit`.
  func ask(_ path: String, _ bell: borrowing Doorbell, limit: Nanoseconds) -> Result<Answer, Failure>? {
    let box = AnswerBox()
    let button = bell.button
    get(path, limit: .nanoseconds(limit.count)) { result in
      box.content.withLock { $0 = result }
      button.ring()
    }
    // It comes within the client's own limit.
    bell.wait()
    return box.content.withLock { $0 }
  }
}

private final class AnswerBox: Sendable {
  let content = Mutex<Result<ServiceClient.Answer, ServiceClient.Failure>?>(nil)
}
