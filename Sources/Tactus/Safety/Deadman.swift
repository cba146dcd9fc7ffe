/// A timeout that an operator keeps from expiring by sending commands.
///
/// A value for machines: it reads no clock. Give `expiresAt` to the loop as its `nextDeadline`, and the runtime releases the
/// loop at that nanosecond, whatever its period.
///
///     var deadman = Deadman(timeout: .milliseconds(200))
///     deadman.feed(at: tick.started)                      // a valid command came in
///     if deadman.hasExpired(at: tick.started) { … }       // silence: cut the pulse
public struct Deadman: Sendable, Hashable, BitwiseCopyable {
  /// Longest silence, more than 0. May be changed while armed: it then holds from the last feed on.
  public var timeout: Nanoseconds
  /// Instant of the last feed; `nil` while it is disarmed and never expires.
  public var fedAt: TickInstant?

  /// A deadman of this `timeout`, more than 0. It is disarmed unless `fedAt` names a feed.
  @_noLocks @_noAllocation
  @inlinable public init(timeout: Nanoseconds, fedAt: TickInstant? = nil) {
    self.timeout = timeout
    self.fedAt = fedAt
  }

  /// Arms it, or keeps it from expiring for another `timeout`.
  @_noLocks @_noAllocation
  @inlinable public mutating func feed(at now: TickInstant) { fedAt = now }

  /// Disarms it: it does not expire until it is fed again.
  @_noLocks @_noAllocation
  @inlinable public mutating func disarm() { fedAt = nil }

  /// The first instant at which the deadman has expired; `nil` while it is disarmed.
  @inlinable public var expiresAt: TickInstant? {
    @_noLocks @_noAllocation get {
      guard let fedAt else { return nil }
      return fedAt + timeout
    }
  }

  /// Whether the last feed is `timeout` or longer ago. False while disarmed.
  @_noLocks @_noAllocation
  @inlinable public func hasExpired(at now: TickInstant) -> Bool {
    guard let expiresAt else { return false }
    return !(now < expiresAt)
  }
}
