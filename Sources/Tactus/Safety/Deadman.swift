/// A timeout that an operator keeps from expiring by sending commands.
///
/// It is a value for machines and reads no clock. If the loop returns `expiresAt` as its `nextDeadline`, the runtime releases the loop at that
/// instant, whatever its period.
///
///     var deadman = Deadman(timeout: .milliseconds(200))
///     deadman.feed(at: tick.started)                      // a valid command came in
///     if deadman.hasExpired(at: tick.started) { … }       // silence: cut the pulse
public struct Deadman: Sendable, Hashable, BitwiseCopyable {
  /// The longest allowed silence, more than 0. If changed while the deadman is armed, the new timeout counts from the last feed.
  public var timeout: Nanoseconds
  /// The instant of the last feed, or `nil` while the deadman is disarmed and never expires.
  public var fedAt: TickInstant?

  /// Creates a deadman with this `timeout`, more than 0. It is disarmed unless `fedAt` is given.
  @_noLocks @_noAllocation
  @inlinable public init(timeout: Nanoseconds, fedAt: TickInstant? = nil) {
    self.timeout = timeout
    self.fedAt = fedAt
  }

  /// Arms the deadman, or keeps it from expiring for another `timeout`.
  @_noLocks @_noAllocation
  @inlinable public mutating func feed(at now: TickInstant) { fedAt = now }

  /// Disarms the deadman: it does not expire until it is fed again.
  @_noLocks @_noAllocation
  @inlinable public mutating func disarm() { fedAt = nil }

  /// The first instant at which the deadman has expired, or `nil` while it is disarmed.
  @inlinable public var expiresAt: TickInstant? {
    @_noLocks @_noAllocation get {
      guard let fedAt else { return nil }
      return fedAt + timeout
    }
  }

  /// Returns whether the last feed was `timeout` or longer ago. The result is `false` while the deadman is disarmed.
  @_noLocks @_noAllocation
  @inlinable public func hasExpired(at now: TickInstant) -> Bool {
    guard let expiresAt else { return false }
    return !(now < expiresAt)
  }
}
