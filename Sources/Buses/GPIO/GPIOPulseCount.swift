import Tactus

/// The pulses of one line, for a flow sensor or an energy meter: their number, the instant of the last one and the interval.
///
/// The changes of a line that reports one kind of edge are passed to `add`. Changes that the kernel dropped because the reader was
/// too slow are counted by the gap in their numbers; only their instants are lost.
public struct GPIOPulseCount: Sendable, Hashable, BitwiseCopyable {
  /// The number of all pulses since the start.
  public private(set) var count: Int64 = 0
  /// The number of pulses whose instants were lost.
  public private(set) var dropped: Int64 = 0
  /// The instant of the last pulse, or `nil` before the first one.
  public private(set) var last: TickInstant?
  /// The time between the last two pulses, averaged over dropped ones, or `nil` before the second pulse.
  public private(set) var interval: Nanoseconds?
  private var sequence: UInt32 = 0

  /// Creates a count without pulses.
  @_noLocks @_noAllocation
  public init() {}

  /// Adds one change of this line. Changes must be passed in order.
  @_noLocks @_noAllocation
  public mutating func add(_ edge: GPIOEdge) {
    let steps = Int64(edge.sequence &- sequence)
    precondition(steps > 0, "changes are taken in their order, each once")
    sequence = edge.sequence
    count &+= steps
    dropped &+= steps - 1
    if let last { interval = Nanoseconds((edge.at - last).count / steps) }
    last = edge.at
  }
}
