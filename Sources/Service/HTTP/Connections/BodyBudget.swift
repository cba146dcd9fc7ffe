import Synchronization

/// The number of bytes of request bodies held at a time by all connections together. It may be used from any thread.
final class BodyBudget: Sendable {
  /// A body up to this length does not count, so that an emergency stop never waits for room.
  static let freeBytes = 1024

  private let limit: Int
  private let held = Mutex(0)

  /// Makes a budget of which no byte is in use.
  ///
  /// - Parameter limit: the greatest number of bytes.
  init(_ limit: Int) { self.limit = limit }

  /// Makes room for `count` bytes of one body, which has room for `taken` bytes so far. A body that is alone has room whatever its length.
  ///
  /// - Returns: whether there is room; `false` if the bodies of other requests hold too many bytes.
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

  /// Releases the room of a body.
  func giveBack(_ taken: Int) { held.withLock { $0 -= taken } }
}
