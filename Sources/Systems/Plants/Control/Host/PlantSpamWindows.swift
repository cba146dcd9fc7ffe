import Tactus

/// The number of recent messages of each client. At most `capacity` clients are kept: beyond that, the one whose window is oldest is forgotten.
struct PlantSpamWindows: Sendable, Hashable {
  enum Verdict { case allowed, limit, beyond }

  static let capacity = 1024
  private struct Window: Hashable {
    var began: TickInstant
    var count: Int
    /// The number of requests still expected because a reply of the host makes the app send them.
    var expected = 0
  }
  private var windows: [PlantUser: Window] = [:]

  /// Counts one message. `limit` means the first message of a window that is over the limit.
  mutating func count(_ user: PlantUser, limit: Int, window length: Nanoseconds, at now: TickInstant) -> Verdict {
    var window = windows[user] ?? Window(began: now, count: 0)
    if !(now - window.began < length) { window = Window(began: now, count: 0, expected: window.expected) }
    window.count += 1
    if windows[user] == nil, windows.count >= Self.capacity { makeRoom(length, at: now) }
    windows[user] = window
    return window.count <= limit ? .allowed : window.count == limit + 1 ? .limit : .beyond
  }

  /// Notes that requests are expected: after the app has received the number of plants it requests each of them, which is not the user's doing.
  mutating func expect(_ count: Int, of user: PlantUser) { windows[user]?.expected = count }

  /// Returns whether this request was expected and is therefore not to be counted.
  mutating func takeExpected(of user: PlantUser) -> Bool {
    guard let window = windows[user], window.expected > 0 else { return false }
    windows[user]?.expected -= 1
    return true
  }

  private mutating func makeRoom(_ length: Nanoseconds, at now: TickInstant) {
    windows = windows.filter { now - $0.value.began < length }
    guard windows.count >= Self.capacity, let oldest = windows.min(by: { $0.value.began < $1.value.began }) else {
      return
    }
    windows[oldest.key] = nil
  }
}
