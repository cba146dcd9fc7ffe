import Tactus

/// How long a pump has pumped since it last rested: at most `limit`, over however many offs and ons.
///
/// The firmware's own limit begins anew with every ON. This one forgets only after `rest` without pumping; with a rest of
/// nothing every off is one.
public struct PumpGovernor: Sendable, Hashable, BitwiseCopyable {
  public enum Phase: Sendable, Hashable, BitwiseCopyable {
    case pumping(since: TickInstant)
    case still(since: TickInstant)
  }

  public private(set) var limit: Nanoseconds
  public private(set) var rest: Nanoseconds
  public private(set) var phase: Phase
  /// Pumped since the last rest, what goes on now not counted.
  public private(set) var before: Nanoseconds

  /// Rested.
  @_noLocks @_noAllocation
  public init(limit: Nanoseconds, rest: Nanoseconds) {
    self.limit = limit
    self.rest = rest
    phase = .still(since: .zero)
    before = .zero
  }

  /// Goes on from what was kept of it, before anything has been observed.
  public mutating func resume(isPumping: Bool, since: TickInstant, before: Nanoseconds) {
    phase = isPumping ? .pumping(since: since) : .still(since: since)
    self.before = before
  }

  /// Another limit and another rest, from now on; what it has pumped counts as it did. A rest that is over by the old rule stays over.
  @_noLocks @_noAllocation
  mutating func change(limit: Nanoseconds, rest: Nanoseconds, at now: TickInstant) {
    if case .still = phase, spent(at: now).count == 0 { before = .zero }
    self.limit = limit
    self.rest = rest
  }

  /// Pumped since the last rest.
  @_noLocks @_noAllocation
  public func spent(at now: TickInstant) -> Nanoseconds {
    switch phase {
    case .pumping(let since): before + (now - since)
    case .still(let since):
      (now - since).count >= rest.count || !Mechanism.restAfterRun.acts ? .zero : before
    }
  }

  /// What is left of the limit, 0 or more.
  @_noLocks @_noAllocation
  public func left(at now: TickInstant) -> Nanoseconds {
    guard Mechanism.runLimit.acts else { return limit }
    let left = limit - spent(at: now)
    return left.count > 0 ? left : .zero
  }

  var isPumping: Bool {
    @_noLocks @_noAllocation get {
      if case .pumping = phase { return true }
      return false
    }
  }

  /// When the limit is reached; nil while nothing pumps.
  public var expiresAt: TickInstant? {
    @_noLocks @_noAllocation get {
      guard case .pumping(let since) = phase, Mechanism.runLimit.acts else { return nil }
      return since + (limit - before)
    }
  }

  /// When the rest is over; nil while it pumps, or when there is nothing to rest from.
  public var restedAt: TickInstant? {
    @_noLocks @_noAllocation get {
      guard case .still(let since) = phase, before.count > 0 else { return nil }
      return Mechanism.restAfterRun.acts ? since + rest : since
    }
  }

  /// It pumps, or does not, from now on.
  @_noLocks @_noAllocation
  mutating func observe(isPumping: Bool, at now: TickInstant) {
    switch phase {
    case .pumping where !isPumping:
      before = spent(at: now)
      phase = .still(since: now)
    case .still where isPumping:
      before = spent(at: now)
      phase = .pumping(since: now)
    default: break
    }
  }

  /// Somebody who was there before us says that it has pumped for so long.
  @_noLocks @_noAllocation
  mutating func claim(atLeast claimed: Nanoseconds, at now: TickInstant) {
    let missing = claimed - spent(at: now)
    guard missing.count > 0 else { return }
    switch phase {
    case .pumping: before = before + missing
    case .still:
      before = claimed
      phase = .still(since: now)
    }
  }

  /// A person takes the responsibility: as if it had rested.
  @_noLocks @_noAllocation
  mutating func reset(at now: TickInstant) {
    before = .zero
    switch phase {
    case .pumping: phase = .pumping(since: now)
    case .still: phase = .still(since: now)
    }
  }
}
