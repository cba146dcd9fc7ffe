import Tactus

/// So many attempts at once, then one in each interval: a token bucket, by the instant at which it will be full again.
struct AttemptBucket: Sendable {
  /// Each failure moves it by one interval; `nil` before the first failure.
  private var full: TickInstant?

  /// Takes an attempt. The result is `nil` if there was one, else the seconds, at least 1, until there is.
  mutating func take(of burst: Int, every interval: Nanoseconds, at now: TickInstant) -> Int64? {
    if let wait = wait(of: burst, every: interval, at: now) { return wait }
    full = begin(at: now) + interval
    return nil
  }

  /// Seconds, at least 1, until there is an attempt, or `nil` if there is one.
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
