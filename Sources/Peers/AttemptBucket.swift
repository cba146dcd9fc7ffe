import Tactus

/// A token bucket for attempts: a number of attempts in a burst, then one in each interval. It is represented by the instant at
/// which it will be full again.
struct AttemptBucket: Sendable {
  /// The instant at which the bucket is full again, or `nil` before the first failure. Each failure moves it by one interval.
  private var full: TickInstant?

  /// Takes an attempt. Returns `nil` if one was available, otherwise the seconds, at least 1, until one is.
  mutating func take(of burst: Int, every interval: Nanoseconds, at now: TickInstant) -> Int64? {
    if let wait = wait(of: burst, every: interval, at: now) { return wait }
    full = begin(at: now) + interval
    return nil
  }

  /// Returns the seconds, at least 1, until an attempt is available, or `nil` if one is available now.
  func wait(of burst: Int, every interval: Nanoseconds, at now: TickInstant) -> Int64? {
    let excess = begin(at: now) + interval - (now + interval * Int64(burst))
    guard excess.count > 0, Mechanism.attemptLimit.acts else { return nil }
    return (excess.count + 999_999_999) / 1_000_000_000
  }

  private func begin(at now: TickInstant) -> TickInstant {
    guard let full, now < full else { return now }
    return full
  }
}
