/// A span of time in whole nanoseconds, positive or negative; about ±292 years.
///
/// The runtime's own unit instead of `Duration`, whose 128-bit attoseconds cost a division at every conversion and whose
/// operations the compiler cannot prove free of locks. Reads the same: `.milliseconds(50)`.
public struct Nanoseconds: Sendable, Hashable, Comparable, BitwiseCopyable {
  /// The number of nanoseconds; negative for a span that goes back.
  public var count: Int64

  /// A span of so many nanoseconds.
  @_noLocks @_noAllocation @inlinable public init(_ count: Int64) { self.count = count }

  /// From a standard `Duration`, rounded toward zero; outside ±292 years the longest span there is.
  public init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    count = seconds.multipliedSaturated(by: 1_000_000_000).addingSaturated(attoseconds / 1_000_000_000)
  }

  /// A span of so many nanoseconds.
  @_noLocks @_noAllocation @inlinable public static func nanoseconds(_ count: Int64) -> Self { Self(count) }
  /// A span of so many microseconds; outside ±292 years the longest there is.
  @_noLocks @_noAllocation @inlinable public static func microseconds(_ count: Int64) -> Self {
    Self(count.multipliedSaturated(by: 1_000))
  }
  /// A span of so many milliseconds; outside ±292 years the longest there is.
  @_noLocks @_noAllocation @inlinable public static func milliseconds(_ count: Int64) -> Self {
    Self(count.multipliedSaturated(by: 1_000_000))
  }
  /// A span of so many seconds; outside ±292 years the longest there is.
  @_noLocks @_noAllocation @inlinable public static func seconds(_ count: Int64) -> Self {
    Self(count.multipliedSaturated(by: 1_000_000_000))
  }
  /// Rounded to the nearest nanosecond; outside ±292 years the longest span there is, and none for what is no number. Not for ticks.
  @_disfavoredOverload @inlinable public static func seconds(_ count: Double) -> Self {
    Self(Int64(saturating: (count * 1e9).rounded()))
  }

  /// No time at all.
  public static var zero: Self {
    @_noLocks @_noAllocation @inlinable get { Self(0) }
  }

  /// The span in seconds, within the precision of a `Double`.
  @inlinable public var inSeconds: Double { @_noLocks @_noAllocation get { Double(count) / 1e9 } }
  /// The span in milliseconds, within the precision of a `Double`.
  @inlinable public var inMilliseconds: Double { @_noLocks @_noAllocation get { Double(count) / 1e6 } }
  /// The span in microseconds, within the precision of a `Double`.
  @inlinable public var inMicroseconds: Double { @_noLocks @_noAllocation get { Double(count) / 1e3 } }

  // Written out: a synthesised `==` cannot be inlined into the tick of another module.
  /// Whether both spans are equally long.
  @_noLocks @_noAllocation @inlinable public static func == (left: Self, right: Self) -> Bool {
    left.count == right.count
  }
  /// Whether the left span is shorter than the right one; a negative one is shorter than none.
  @_noLocks @_noAllocation @inlinable public static func < (left: Self, right: Self) -> Bool {
    left.count < right.count
  }
  /// The two spans together. Wraps around beyond ±292 years instead of trapping.
  @_noLocks @_noAllocation @inlinable public static func + (left: Self, right: Self) -> Self {
    Self(left.count &+ right.count)
  }
  /// The left span without the right one. Wraps around beyond ±292 years instead of trapping.
  @_noLocks @_noAllocation @inlinable public static func - (left: Self, right: Self) -> Self {
    Self(left.count &- right.count)
  }
  /// The span so many times. Wraps around beyond ±292 years instead of trapping.
  @_noLocks @_noAllocation @inlinable public static func * (left: Self, right: Int64) -> Self {
    Self(left.count &* right)
  }
  /// One of so many equal parts, rounded toward zero. Traps when `right` is 0.
  @_noLocks @_noAllocation @inlinable public static func / (left: Self, right: Int64) -> Self {
    Self(left.count / right)
  }
}

extension Nanoseconds: CustomStringConvertible {
  /// The largest unit that shows the value whole or with three decimals: `50 ms`, `1.25 s`, `740 ns`.
  public var description: String {
    let (unit, name): (Int64, String) =
      switch count.magnitude {
      case 0..<1_000: (1, "ns")
      case 0..<1_000_000: (1_000, "µs")
      case 0..<1_000_000_000: (1_000_000, "ms")
      default: (1_000_000_000, "s")
      }
    let whole = count / unit
    let thousandths = Int((count % unit).magnitude) * 1_000 / Int(unit)
    guard thousandths != 0 else { return "\(whole) \(name)" }
    var decimals = String(1_000 + thousandths).dropFirst()
    while decimals.last == "0" { decimals.removeLast() }
    return "\(whole).\(decimals) \(name)"
  }
}

/// An instant on the runtime's one clock: CLOCK_MONOTONIC in real time, nanoseconds since the start in simulated time.
///
/// Loops and machines get instants from their tick and from nowhere else; no setting of the wall clock moves them.
public struct TickInstant: Sendable, Hashable, Comparable, BitwiseCopyable {
  /// Nanoseconds since the clock's epoch (the machine's boot, or the start of the simulation).
  public var nanoseconds: Int64

  /// An instant so many nanoseconds after the epoch of the clock.
  @_noLocks @_noAllocation @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// The epoch of the clock: the start, in simulated time.
  public static var zero: Self {
    @_noLocks @_noAllocation @inlinable get { Self(nanoseconds: 0) }
  }
  /// Later than every instant that will ever be reached.
  public static var distantFuture: Self {
    @_noLocks @_noAllocation @inlinable get { Self(nanoseconds: .max) }
  }

  /// Whether both are the same instant.
  @_noLocks @_noAllocation @inlinable public static func == (left: Self, right: Self) -> Bool {
    left.nanoseconds == right.nanoseconds
  }
  /// Whether the left instant is before the right one.
  @_noLocks @_noAllocation @inlinable public static func < (left: Self, right: Self) -> Bool {
    left.nanoseconds < right.nanoseconds
  }
  /// The instant a span later. Wraps around at the end of time instead of trapping.
  @_noLocks @_noAllocation @inlinable public static func + (left: Self, right: Nanoseconds) -> Self {
    Self(nanoseconds: left.nanoseconds &+ right.count)
  }
  /// The instant a span earlier.
  @_noLocks @_noAllocation @inlinable public static func - (left: Self, right: Nanoseconds) -> Self {
    Self(nanoseconds: left.nanoseconds &- right.count)
  }
  /// The span from the right instant to the left one.
  @_noLocks @_noAllocation @inlinable public static func - (left: Self, right: Self) -> Nanoseconds {
    Nanoseconds(left.nanoseconds &- right.nanoseconds)
  }
}
