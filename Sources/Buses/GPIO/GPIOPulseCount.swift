import Tactus

/// The pulses of one line, for a flow sensor or an energy meter: how many, when the last one came, how far apart.
///
/// Fed with the changes of a line that reports one kind of edge. Changes that the kernel dropped because the reader was too slow are
/// counted by the gap in their numbers; only their times are lost.
public struct GPIOPulseCount: Sendable, Hashable, BitwiseCopyable {
  /// All since the start.
  public private(set) var count: Int64 = 0
  /// Of those, the ones whose times were lost.
  public private(set) var dropped: Int64 = 0
  /// The last one; nil before the first.
  public private(set) var last: TickInstant?
  /// Between the last two, the average over a gap; nil before the second.
  public private(set) var interval: Nanoseconds?
  private var sequence: UInt32 = 0

  /// No pulse yet.
  @_noLocks @_noAllocation
  public init() {}

  /// One change of this line, in their order.
  @_noLocks @_noAllocation
  public mutating func take(_ edge: GPIOEdge) {
    let steps = Int64(edge.sequence &- sequence)
    precondition(steps > 0, "changes are taken in their order, each once")
    sequence = edge.sequence
    count &+= steps
    dropped &+= steps - 1
    if let last { interval = Nanoseconds((edge.at - last).count / steps) }
    last = edge.at
  }
}
