import Synchronization
import Tactus

/// Limits wrong tokens and passwords by address: ten in a burst, then one every six seconds.
///
/// Tokens are verified first, and only failures are counted (`fail`), because a script with an outdated token on the same machine
/// or behind the same router must not prevent an emergency stop. A token's length makes guessing it hopeless. Passwords are chosen
/// by people, so they are not verified (`wait`) while an address has no attempt left, or all addresses together have none. An
/// address that has given the right password is limited by its own attempts only.
///
/// May be used from any thread. The limiter stores 1,024 addresses, where an IPv6 network (/64) counts as one; a new address
/// replaces the one that has been quiet longest.
package final class AttemptLimiter: Sendable {
  package static let burst = 10
  package static let interval = Nanoseconds.seconds(6 as Int64)
  package static let capacity = 1024
  /// The limit of all addresses together: a hundred in a burst, then one every 600 ms.
  package static let burstInAll = 100
  package static let intervalInAll = Nanoseconds.milliseconds(600 as Int64)

  private struct State: Sendable {
    /// The bucket of each address.
    var addresses = RecentTable<PeerNetwork, AttemptBucket>(capacity: AttemptLimiter.capacity)
    /// The addresses that have given the right password.
    var welcome = RecentTable<PeerNetwork, Bool>(capacity: AttemptLimiter.capacity)
    var all = AttemptBucket()
  }

  private let state = Mutex(State())

  package init() {}

  /// The number of stored addresses.
  package var addresses: Int { state.withLock { $0.addresses.count } }

  /// Counts a failure. Returns `nil` if the failure is within the limit, otherwise the seconds, at least 1, until the next attempt is.
  package func fail(_ peer: String, at now: TickInstant) -> Int64? {
    state.withLock { state in
      state.addresses.use(PeerNetwork(peer), default: AttemptBucket()) {
        $0.consumeAttempt(of: Self.burst, every: Self.interval, at: now)
      }
    }
  }

  /// Counts the failure of a password that `wait` has admitted.
  package func failPassword(_ peer: String, at now: TickInstant) {
    _ = fail(peer, at: now)
    state.withLock { _ = $0.all.consumeAttempt(of: Self.burstInAll, every: Self.intervalInAll, at: now) }
  }

  /// Records that the address has given the right password.
  package func succeed(_ peer: String) {
    state.withLock { $0.welcome.use(PeerNetwork(peer), default: true) { $0 = true } }
  }

  /// Returns the whole seconds, at least 1, for which passwords from this address are not verified, or `nil` if they are verified now.
  package func wait(_ peer: String, at now: TickInstant) -> Int64? {
    let network = PeerNetwork(peer)
    return state.withLock { state in
      let own = state.addresses.use(network, default: AttemptBucket()) {
        $0.wait(of: Self.burst, every: Self.interval, at: now)
      }
      let isWelcome = state.welcome.has(network)
      return own ?? (isWelcome ? nil : state.all.wait(of: Self.burstInAll, every: Self.intervalInAll, at: now))
    }
  }
}

/// A token bucket for attempts: a number of attempts in a burst, then one in each interval. It is represented by the instant at
/// which it will be full again.
struct AttemptBucket: Sendable {
  /// The instant at which the bucket is full again, or `nil` before the first failure. Each failure moves it by one interval.
  private var full: TickInstant?

  /// Consumes an attempt. Returns `nil` if one was available, otherwise the seconds, at least 1, until one is.
  mutating func consumeAttempt(of burst: Int, every interval: Nanoseconds, at now: TickInstant) -> Int64? {
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
