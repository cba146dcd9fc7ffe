import Synchronization

/// Gives numbers to WebSocket clients, from 0x8000_0000 up; none is repeated within 2³¹ connections.
final class WebSocketNumbers: Sendable {
  private let count = Atomic<UInt32>(0)

  func next() -> UInt32 {
    0x8000_0000 | (count.wrappingAdd(1, ordering: .relaxed).oldValue & 0x7FFF_FFFF)
  }
}
