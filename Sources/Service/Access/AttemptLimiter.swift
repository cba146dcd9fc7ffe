import Synchronization
import Tactus

/// Counts wrong tokens, by address: ten at once, then one every six seconds.
///
/// Only failures are counted and answered 429. A valid token always passes, since it is verified first: a script with an
/// outdated token on the same machine, or behind the same router, must not keep anybody from the emergency stop. What keeps
/// guesses from succeeding is the length of secrets, not this.
///
/// Any thread. Knows 1,024 addresses, an IPv6 network (/64) being one; the address longest quiet makes room.
final class AttemptLimiter: Sendable {
  static let burst = 10
  static let interval = Nanoseconds.seconds(6 as Int64)
  static let capacity = 1024

  /// When the address will have its ten attempts again: each failure moves it by one interval (a token bucket).
  private let full = Mutex(RecentTable<PeerNetwork, TickInstant>(capacity: AttemptLimiter.capacity))

  /// How many are known.
  var addresses: Int { full.withLock { $0.count } }

  /// Counts a failure. nil: one of those that are free; else the seconds, at least 1, until the next is.
  func fail(_ peer: String, at now: TickInstant) -> Int64? {
    full.withLock { table in
      table.use(PeerNetwork(peer), default: now) { full in
        let next = (full < now ? now : full) + Self.interval
        let excess = next - (now + Self.interval * Int64(Self.burst))
        guard excess.count > 0, Mechanism.attemptLimit.acts else {
          full = next
          return nil
        }
        return (excess.count + 999_999_999) / 1_000_000_000
      }
    }
  }
}
