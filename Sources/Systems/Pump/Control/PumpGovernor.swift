import Tactus

/// Limits how long a pump runs between two rests, however many times the pump is turned off and on.
///
/// The firmware's limit begins anew with every ON. The governor's limit begins anew only after the pump has stood still for `rest`; with a `rest` of
/// 0 every off is a rest.
public struct PumpGovernor: Sendable, Hashable, BitwiseCopyable {
  public enum Phase: Sendable, Hashable, BitwiseCopyable {
    case pumping(since: TickInstant)
    case still(since: TickInstant)
  }

  public private(set) var limit: Nanoseconds
  public private(set) var rest: Nanoseconds
  public private(set) var phase: Phase
  /// The time for which the pump has run since its last rest, without the present run.
  public private(set) var before: Nanoseconds

  /// Creates the governor of a pump that has rested.
  @_noLocks @_noAllocation
  public init(limit: Nanoseconds, rest: Nanoseconds) {
    self.limit = limit
    self.rest = rest
    phase = .still(since: .zero)
    before = .zero
  }

  /// Restores a stored state, before anything has been observed.
  public mutating func resume(isPumping: Bool, since: TickInstant, before: Nanoseconds) {
    phase = isPumping ? .pumping(since: since) : .still(since: since)
    self.before = before
  }

  /// Changes the limit and the rest from now on; the time already used remains. A rest that is over by the old rule stays over.
  @_noLocks @_noAllocation
  mutating func change(limit: Nanoseconds, rest: Nanoseconds, at now: TickInstant) {
    if case .still = phase, spent(at: now).count == 0 { before = .zero }
    self.limit = limit
    self.rest = rest
  }

  /// Returns the time for which the pump has run since its last rest.
  @_noLocks @_noAllocation
  public func spent(at now: TickInstant) -> Nanoseconds {
    switch phase {
    case .pumping(let since): before + (now - since)
    case .still(let since):
      (now - since).count >= rest.count || !Mechanism.restAfterRun.acts ? .zero : before
    }
  }

  /// Returns the time that is left of the limit, 0 or more.
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

  /// The instant at which the limit is reached, or `nil` while the pump does not run.
  public var expiresAt: TickInstant? {
    @_noLocks @_noAllocation get {
      guard case .pumping(let since) = phase, Mechanism.runLimit.acts else { return nil }
      return since + (limit - before)
    }
  }

  /// The instant at which the rest is over, or `nil` while the pump runs or if there is nothing to rest from.
  public var restedAt: TickInstant? {
    @_noLocks @_noAllocation get {
      guard case .still(let since) = phase, before.count > 0 else { return nil }
      return Mechanism.restAfterRun.acts ? since + rest : since
    }
  }

  /// Notes whether the pump runs from now on.
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

  /// Raises the used time to `claimed`, the running time reported by a pump that was observed before this program started.
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

  /// Begins the limit again, as after a rest, on a person's responsibility.
  @_noLocks @_noAllocation
  mutating func reset(at now: TickInstant) {
    before = .zero
    switch phase {
    case .pumping: phase = .pumping(since: now)
    case .still: phase = .still(since: now)
    }
  }
}
