import Synchronization

/// What is wrong with the daemon as a whole.
final class ServiceHealth: Sendable {
  private struct State {
    var stalled: Set<String> = []
    var isStopping = false
  }
  private let state = Mutex(State())

  func setStalled(_ isStalled: Bool, loop: String) {
    state.withLock { state in
      if isStalled { state.stalled.insert(loop) } else { state.stalled.remove(loop) }
    }
  }

  func setStopping() { state.withLock { $0.isStopping = true } }

  /// Names of the loops that do not tick, in order.
  var stalled: [String] { state.withLock { $0.stalled.sorted() } }
  var isStopping: Bool { state.withLock { $0.isStopping } }
}
