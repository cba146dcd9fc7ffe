import Tactus

/// A request of a client inside the daemon to one leg or to all.
///
/// The loop answers each request, in order.
public struct LegRequest: Sendable, Hashable, BitwiseCopyable {
  public enum Target: Sendable, Hashable, BitwiseCopyable {
    /// One leg, by its index 0…31 in the order of the configuration. Every order other than a pulse is for the whole group of the leg.
    case leg(Int)
    /// Every leg in the same tick. An arm takes effect for all legs or, if one refuses, for none.
    case all
  }
  public var target: Target
  public var order: LegOrder

  public init(_ order: LegOrder, to target: Target) {
    self.target = target
    self.order = order
  }

  /// The longest time for which an arm, a pulse, a ping, a new link or a reset may wait for the loop. A request that makes the leg safe is obeyed
  /// however late it comes.
  public static var patience: Nanoseconds {
    @_noLocks @_noAllocation get { .milliseconds(150) }
  }

  /// A waiting time just beyond `patience`, after which a request counts as stale unless it makes the leg safe.
  static var tooLong: Nanoseconds {
    @_noLocks @_noAllocation get { patience + .milliseconds(1) }
  }

  /// Whether the request can only end a pulse.
  public var makesSafe: Bool {
    switch order {
    case .command(.disarm), .unlinked, .clientLeft, .emergencyStop, .stopSequence: true
    case .command, .invalidFrame, .linked, .reset, .battery, .query, .play: false
    }
  }

  /// Returns the event that the request is for the machine after having waited for `wait`, or `nil` if the request requires none.
  @_noLocks @_noAllocation
  func event(after wait: Nanoseconds) -> LegEvent? {
    switch order {
    case .clientLeft, .query, .play, .stopSequence: return nil
    default:
      let event = LegEvent.order(order)
      return Mechanism.staleness.acts && wait.count > Self.patience.count ? event.late : event
    }
  }

  var isArm: Bool {
    @_noLocks @_noAllocation get {
      if case .command(.arm) = order { return true }
      return false
    }
  }
}

/// The reason why a `LegRequest` was refused, and by which leg.
public struct LegRefusal: Error, Sendable, Hashable, BitwiseCopyable {
  public let reason: LegIgnoreReason
  /// The leg that refused, or the first one if several refused.
  public let leg: Int

  @_noLocks @_noAllocation
  public init(_ reason: LegIgnoreReason, leg: Int) {
    self.reason = reason
    self.leg = leg
  }
}
