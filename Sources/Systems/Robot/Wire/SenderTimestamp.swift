import Tactus

/// When a sender says it sent a datagram, in seconds of the sender's own clock.
///
/// Comparable only with other stamps of the same sender; never with a clock of this machine. Always finite. Source:
/// facts/robot.md, rules 3, 4 and 7.
public struct SenderTimestamp: Sendable, Hashable, BitwiseCopyable {
  public let seconds: Double

  /// From the number on the wire: seconds, or milliseconds when it is above 10¹². `value` must be finite.
  @_noLocks @_noAllocation
  public init(wireValue value: Double) {
    precondition(value.isFinite, "a timestamp is finite")
    seconds = value > 1e12 ? value / 1000 : value
  }

  /// Whole seconds: a clock too coarse to tell two datagrams apart.
  public var isWhole: Bool {
    // From 2⁵³ on every double is whole, and Int64 would soon overflow.
    @_noLocks @_noAllocation get {
      seconds.magnitude >= 9_007_199_254_740_992 || Double(Int64(saturating: seconds)) == seconds
    }
  }

  /// Where a datagram stands in relation to the last one accepted from the same sender.
  public enum Order: Sendable, Hashable, BitwiseCopyable {
    case newer
    /// The same datagram again: neither apply it nor let it feed the failsafe.
    case duplicate
    case older
  }

  /// Equal whole seconds count as newer (arrival order decides), any other equal stamps as a duplicate.
  @_noLocks @_noAllocation
  public func order(after last: SenderTimestamp) -> Order {
    if seconds > last.seconds { return .newer }
    if seconds < last.seconds { return .older }
    return isWhole ? .newer : .duplicate
  }
}
