import Tactus

/// A debouncer for a bouncing contact: a change counts once it has lasted for a time.
///
///     if button.step(isPressed, at: tick.started), button.isActive { … }   // it went down
///
/// Time is measured by the instants of ticks, so debouncing takes the same time at any rate, and a missed tick does not shorten it.
/// If the loop returns `settlesAt` as its `nextDeadline`, the change counts at exactly that instant.
public struct Debouncer: Sendable, Hashable, BitwiseCopyable {
  /// The time that a level must last before it counts. With zero or less the first sample counts.
  public let stableFor: Nanoseconds
  /// The debounced level.
  public private(set) var isActive: Bool
  private var changedAt: TickInstant?

  /// Creates a debouncer whose contact is known to have the level `isActive`. A time of 0 or less switches debouncing off.
  @_noLocks @_noAllocation
  public init(stableFor: Nanoseconds, isActive: Bool = false) {
    self.stableFor = stableFor
    self.isActive = isActive
  }

  /// Takes a sample and returns whether it has changed the debounced level.
  @_noLocks @_noAllocation @discardableResult
  public mutating func step(_ level: Bool, at now: TickInstant) -> Bool {
    guard level != isActive else {
      changedAt = nil
      return false
    }
    let since = changedAt ?? now
    guard (now - since).count >= stableFor.count else {
      changedAt = since
      return false
    }
    isActive = level
    changedAt = nil
    return true
  }

  /// The instant at which a sampled change will count if the level stays, or `nil` if the last sample is the debounced level.
  public var settlesAt: TickInstant? {
    @_noLocks @_noAllocation get {
      guard let changedAt else { return nil }
      return changedAt + stableFor
    }
  }
}
