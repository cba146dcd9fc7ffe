import Tactus

/// The time at which a sender claims to have sent a datagram, in seconds of the sender's clock.
///
/// A timestamp is comparable only with other timestamps of the same sender, never with a local clock. It is always finite. Source:
/// facts/robot.md, rules 3, 4 and 7.
public struct SenderTimestamp: Sendable, Hashable, BitwiseCopyable {
  public let seconds: Double

  /// Creates a timestamp from the number on the wire: seconds, or milliseconds if the number is above 10¹². `value` must be finite.
  @_noLocks @_noAllocation
  public init(wireValue value: Double) {
    precondition(value.isFinite, "a timestamp is finite")
    seconds = value > 1e12 ? value / 1000 : value
  }

  /// Whether the timestamp is in whole seconds, as from a clock too coarse to tell two datagrams apart.
  public var isWhole: Bool {
    // From 2⁵³ on every double is whole, and Int64 would soon overflow.
    @_noLocks @_noAllocation get {
      seconds.magnitude >= 9_007_199_254_740_992 || Double(Int64(saturating: seconds)) == seconds
    }
  }

  /// The order of a datagram relative to the last one accepted from the same sender.
  public enum Order: Sendable, Hashable, BitwiseCopyable {
    case newer
    /// A repetition of the last datagram, which must be neither applied nor counted as a heartbeat for the failsafe.
    case duplicate
    case older
  }

  /// Returns the order of this timestamp relative to `last`. Equal whole seconds count as newer, so that arrival order decides; any other
  /// equal timestamps are a duplicate.
  @_noLocks @_noAllocation
  public func order(after last: SenderTimestamp) -> Order {
    if seconds > last.seconds { return .newer }
    if seconds < last.seconds { return .older }
    return isWhole ? .newer : .duplicate
  }
}
