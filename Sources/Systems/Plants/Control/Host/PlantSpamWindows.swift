import Tactus

/// Who has sent how much lately. Bounded: of more than `capacity` clients the one whose window began first is forgotten.
struct PlantSpamWindows: Sendable, Hashable {
  enum Verdict { case allowed, limit, beyond }

  static let capacity = 1024
  private struct Window: Hashable {
    var began: TickInstant
    var count: Int
    /// Requests still to come that an answer of ours has made the app send.
    var expected = 0
  }
  private var windows: [PlantUser: Window] = [:]

  /// Counts one message. `limit` is the first one too many of a window.
  mutating func count(_ user: PlantUser, limit: Int, window length: Nanoseconds, at now: TickInstant) -> Verdict {
    var window = windows[user] ?? Window(began: now, count: 0)
    if !(now - window.began < length) { window = Window(began: now, count: 0, expected: window.expected) }
    window.count += 1
    if windows[user] == nil, windows.count >= Self.capacity { makeRoom(length, at: now) }
    windows[user] = window
    return window.count <= limit ? .allowed : window.count == limit + 1 ? .limit : .beyond
  }

  /// Told how many plants it has, the app asks for each: so many requests are not its user's doing.
  mutating func expect(_ count: Int, of user: PlantUser) { windows[user]?.expected = count }

  /// Returns whether this one was expected, and is not to be counted.
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
