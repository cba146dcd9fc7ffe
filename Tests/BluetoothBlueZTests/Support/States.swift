import Foundation
import Synchronization
import TestSupport

/// The states that a link has reported, for a test to wait for.
final class States<State: Sendable & Equatable>: Sendable {
  private let seen = Mutex<[State]>([])
  private let news = DispatchSemaphore(value: 0)

  func add(_ state: State) {
    seen.withLock { $0.append(state) }
    news.signal()
  }

  var all: [State] { seen.withLock { $0 } }

  /// Whether `isWanted` is true of a state since the last one that was waited for, within a minute.
  func reach(_ isWanted: (State) -> Bool) -> Bool {
    while true {
      let found = seen.withLock { seen in
        guard let index = seen.firstIndex(where: isWanted) else { return false }
        seen.removeSubrange(...index)
        return true
      }
      if found { return true }
      if news.wait(timeout: .now() + .milliseconds(Int(patience))) == .timedOut { return false }
    }
  }

  func reach(_ state: State) -> Bool { reach { $0 == state } }
}
