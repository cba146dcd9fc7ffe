import Synchronization

/// How many bytes of requests' bodies are held at a time, all connections together. Usable from any thread.
final class BodyBudget: Sendable {
  /// A body up to this length is free: an emergency stop never waits for room.
  static let freeBytes = 1024

  private let limit: Int
  private let held = Mutex(0)

  /// - Parameter limit: bytes.
  init(_ limit: Int) { self.limit = limit }

  /// Makes room for `count` bytes in place of `taken`, of one body. A single body has room whatever its length.
  ///
  /// - Returns: `false` if others hold too much.
  func hold(_ count: Int, taken: inout Int) -> Bool {
    guard count > max(taken, Self.freeBytes) else { return true }
    let hasRoom = held.withLock { held in
      guard held == taken || held - taken + count <= limit else { return false }
      held += count - taken
      return true
    }
    if hasRoom { taken = count }
    return hasRoom
  }

  /// The body is done with.
  func giveBack(_ taken: Int) { held.withLock { $0 -= taken } }
}
