import Synchronization
import Tactus

/// Counts wrong tokens and passwords, by address: ten at once, then one every six seconds.
///
/// Tokens are verified first, and only failures are counted (`fail`): a script with an outdated token on the same machine, or behind
/// the same router, must not keep anybody from the emergency stop. What keeps guesses of a token from succeeding is its length.
/// Passwords are chosen by people: theirs are not looked at (`wait`) while an address has no attempt left, nor, where `inAll` is asked
/// for, while all addresses together have none; an address that has shown the right one is held by its own attempts alone.
///
/// Any thread. Knows 1,024 addresses, an IPv6 network (/64) being one; the address longest quiet makes room.
package final class AttemptLimiter: Sendable {
  package static let burst = 10
  package static let interval = Nanoseconds.seconds(6 as Int64)
  package static let capacity = 1024
  /// Of all addresses together: a hundred at once, then one every 600 ms.
  package static let burstInAll = 100
  package static let intervalInAll = Nanoseconds.milliseconds(600 as Int64)

  private struct State: Sendable {
    /// When each address will have its attempts again.
    var addresses = RecentTable<PeerNetwork, AttemptBucket>(capacity: AttemptLimiter.capacity)
    /// Those that have shown the right password.
    var welcome = RecentTable<PeerNetwork, Bool>(capacity: AttemptLimiter.capacity)
    var all = AttemptBucket()
  }

  private let state = Mutex(State())

  package init() {}

  /// How many are known.
  package var addresses: Int { state.withLock { $0.addresses.count } }

  /// Counts a failure. The result is `nil` if it is one of those that are free, else the seconds, at least 1, until the next is.
  package func fail(_ peer: String, at now: TickInstant) -> Int64? {
    state.withLock { state in
      state.addresses.use(PeerNetwork(peer), default: AttemptBucket()) {
        $0.take(of: Self.burst, every: Self.interval, at: now)
      }
    }
  }

  /// Counts the failure of a password that `wait` has let through.
  package func failPassword(_ peer: String, at now: TickInstant) {
    _ = fail(peer, at: now)
    state.withLock { _ = $0.all.take(of: Self.burstInAll, every: Self.intervalInAll, at: now) }
  }

  /// The right password was shown.
  package func succeed(_ peer: String) {
    state.withLock { $0.welcome.use(PeerNetwork(peer), default: true) { $0 = true } }
  }

  /// Whole seconds, at least 1, for which a password from this address is not looked at, or `nil` if it is now.
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
