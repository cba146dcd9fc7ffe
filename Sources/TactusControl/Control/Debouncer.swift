import Tactus

/// A contact that bounces: a change counts once it has lasted.
///
///     if button.step(isPressed, at: tick.started), button.isActive { … }   // it went down
///
/// Measured by the tick's instants, so it takes as long at any rate, and a missed tick shortens nothing. Give
/// `settlesAt` to the loop as its `nextDeadline`, and the change counts at that very nanosecond.
public struct Debouncer: Sendable, Hashable, BitwiseCopyable {
  /// How long a level must last before it counts. Zero or less: the first sample counts.
  public let stableFor: Nanoseconds
  /// The level that counts.
  public private(set) var isActive: Bool
  private var changedAt: TickInstant?

  /// A contact of which `isActive` is known to hold. A time of 0 or less switches the debouncing off.
  @_noLocks @_noAllocation
  public init(stableFor: Nanoseconds, isActive: Bool = false) {
    self.stableFor = stableFor
    self.isActive = isActive
  }

  /// Takes a sample; returns whether the level that counts has changed by it.
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

  /// When the change that was sampled will count, if the level stays; `nil` while the last sample is the level that counts.
  public var settlesAt: TickInstant? {
    @_noLocks @_noAllocation get {
      guard let changedAt else { return nil }
      return changedAt + stableFor
    }
  }
}
