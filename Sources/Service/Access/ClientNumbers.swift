import Peers
import Synchronization

/// Gives numbers to callers: the same token from the same address is the same client as long as the pair is among the
/// last 1,024 seen. It may be used from any thread.
final class ClientNumbers: Sendable {
  static let capacity = 1024
  static let greatest: UInt32 = 0x7FFF_FFFF

  private struct Name: Hashable {
    let tokenID: String?
    let address: String
  }

  private struct State {
    var table = RecentTable<Name, UInt32>(capacity: ClientNumbers.capacity)
    var last: UInt32 = 0
  }

  private let state = Mutex(State())

  /// Returns the client's number, 1…0x7FFF_FFFF. WebSockets have numbers above that range.
  func number(tokenID: String?, address: String) -> UInt32 {
    state.withLock { state in
      let fresh = state.last == Self.greatest ? 1 : state.last + 1
      let number = state.table.use(Name(tokenID: tokenID, address: address), default: fresh) { $0 }
      if number == fresh { state.last = fresh }
      return number
    }
  }
}

/// Gives numbers to WebSocket clients, from 0x8000_0000 up; none is repeated within 2³¹ connections.
final class WebSocketNumbers: Sendable {
  private let count = Atomic<UInt32>(0)

  func next() -> UInt32 {
    0x8000_0000 | (count.wrappingAdd(1, ordering: .relaxed).oldValue & 0x7FFF_FFFF)
  }
}
