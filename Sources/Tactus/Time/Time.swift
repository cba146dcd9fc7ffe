/// A span of time in whole nanoseconds, positive or negative, up to about ±292 years.
///
/// The runtime's unit instead of `Duration`, whose 128-bit attoseconds cost a division at every conversion and whose operations the
/// compiler cannot prove free of locks. It is written in the same way: `.milliseconds(50)`.
public struct Nanoseconds: Sendable, Hashable, Comparable, BitwiseCopyable {
  /// The number of nanoseconds; negative for a span into the past.
  public var count: Int64

  /// Creates a span of `count` nanoseconds.
  @_noLocks @_noAllocation @inlinable public init(_ count: Int64) { self.count = count }

  /// Converts a standard `Duration`, rounded toward zero. Beyond ±292 years the result is the longest span.
  public init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    count = seconds.multipliedSaturated(by: 1_000_000_000).addingSaturated(attoseconds / 1_000_000_000)
  }

  /// Returns a span of `count` nanoseconds.
  @_noLocks @_noAllocation @inlinable public static func nanoseconds(_ count: Int64) -> Self { Self(count) }
  /// Returns a span of `count` microseconds. Beyond ±292 years the result is the longest span.
  @_noLocks @_noAllocation @inlinable public static func microseconds(_ count: Int64) -> Self {
    Self(count.multipliedSaturated(by: 1_000))
  }
  /// Returns a span of `count` milliseconds. Beyond ±292 years the result is the longest span.
  @_noLocks @_noAllocation @inlinable public static func milliseconds(_ count: Int64) -> Self {
    Self(count.multipliedSaturated(by: 1_000_000))
  }
  /// Returns a span of `count` seconds. Beyond ±292 years the result is the longest span.
  @_noLocks @_noAllocation @inlinable public static func seconds(_ count: Int64) -> Self {
    Self(count.multipliedSaturated(by: 1_000_000_000))
  }
  /// Returns a span of `count` seconds, rounded to the nearest nanosecond. Beyond ±292 years the result is the longest span; NaN
  /// gives zero. This is not for ticks.
  @_disfavoredOverload @inlinable public static func seconds(_ count: Double) -> Self {
    Self(Int64(saturating: (count * 1e9).rounded()))
  }

  /// A span of zero length.
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
  /// Returns whether both spans are equally long.
  @_noLocks @_noAllocation @inlinable public static func == (left: Self, right: Self) -> Bool {
    left.count == right.count
  }
  /// Returns whether the left span is less than the right one; a negative span is less than zero.
  @_noLocks @_noAllocation @inlinable public static func < (left: Self, right: Self) -> Bool {
    left.count < right.count
  }
  /// Returns the sum of both spans. Wraps around beyond ±292 years instead of trapping.
  @_noLocks @_noAllocation @inlinable public static func + (left: Self, right: Self) -> Self {
    Self(left.count &+ right.count)
  }
  /// Returns the difference of both spans. Wraps around beyond ±292 years instead of trapping.
  @_noLocks @_noAllocation @inlinable public static func - (left: Self, right: Self) -> Self {
    Self(left.count &- right.count)
  }
  /// Returns the span multiplied by a number. Wraps around beyond ±292 years instead of trapping.
  @_noLocks @_noAllocation @inlinable public static func * (left: Self, right: Int64) -> Self {
    Self(left.count &* right)
  }
  /// Returns the span divided by a number, rounded toward zero. Traps if `right` is 0.
  @_noLocks @_noAllocation @inlinable public static func / (left: Self, right: Int64) -> Self {
    Self(left.count / right)
  }
}

extension Nanoseconds: CustomStringConvertible {
  /// The span in the largest unit that shows it whole or with three decimals: `50 ms`, `1.25 s`, `740 ns`.
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

/// An instant on the runtime's clock: CLOCK_MONOTONIC in real time, nanoseconds since the start in simulated time.
///
/// Loops and machines get instants from their tick and from nowhere else. Setting the wall clock does not change instants.
public struct TickInstant: Sendable, Hashable, Comparable, BitwiseCopyable {
  /// The number of nanoseconds since the clock's epoch (the machine's boot, or the start of the simulation).
  public var nanoseconds: Int64

  /// Creates an instant `nanoseconds` after the epoch of the clock.
  @_noLocks @_noAllocation @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// The epoch of the clock, which in simulated time is the start.
  public static var zero: Self {
    @_noLocks @_noAllocation @inlinable get { Self(nanoseconds: 0) }
  }
  /// An instant later than every instant that will ever be reached.
  public static var distantFuture: Self {
    @_noLocks @_noAllocation @inlinable get { Self(nanoseconds: .max) }
  }

  /// Returns whether both are the same instant.
  @_noLocks @_noAllocation @inlinable public static func == (left: Self, right: Self) -> Bool {
    left.nanoseconds == right.nanoseconds
  }
  /// Returns whether the left instant is before the right one.
  @_noLocks @_noAllocation @inlinable public static func < (left: Self, right: Self) -> Bool {
    left.nanoseconds < right.nanoseconds
  }
  /// Returns the instant that is a span later. Wraps around at the end of time instead of trapping.
  @_noLocks @_noAllocation @inlinable public static func + (left: Self, right: Nanoseconds) -> Self {
    Self(nanoseconds: left.nanoseconds &+ right.count)
  }
  /// Returns the instant that is a span earlier.
  @_noLocks @_noAllocation @inlinable public static func - (left: Self, right: Nanoseconds) -> Self {
    Self(nanoseconds: left.nanoseconds &- right.count)
  }
  /// Returns the span from the right instant to the left one.
  @_noLocks @_noAllocation @inlinable public static func - (left: Self, right: Self) -> Nanoseconds {
    Nanoseconds(left.nanoseconds &- right.nanoseconds)
  }
}
