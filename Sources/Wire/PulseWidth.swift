/// How long a servo's line is high in each period, in whole microseconds: what tells a hobby servo where to go.
public struct PulseWidth: Sendable, Hashable, Comparable, BitwiseCopyable {
  /// 0…65535. Servos take 500…2500; the middle is usually 1500.
  public var microseconds: UInt16

  @_noLocks @_noAllocation
  @inlinable public init(microseconds: UInt16) { self.microseconds = microseconds }

  @_noLocks @_noAllocation
  @inlinable public static func microseconds(_ count: UInt16) -> Self { Self(microseconds: count) }

  /// The shortest pulse that hobby servos take, 500 µs.
  public static var shortest: Self {
    @_noLocks @_noAllocation @inlinable get { Self(microseconds: 500) }
  }
  /// The longest pulse that hobby servos take, 2500 µs.
  public static var longest: Self {
    @_noLocks @_noAllocation @inlinable get { Self(microseconds: 2500) }
  }
  /// 1500 µs.
  public static var middle: Self {
    @_noLocks @_noAllocation @inlinable get { Self(microseconds: 1500) }
  }

  @_noLocks @_noAllocation
  @inlinable public static func < (left: Self, right: Self) -> Bool { left.microseconds < right.microseconds }

  /// `==` for ticks: the compiler cannot prove the derived operator.
  @_noLocks @_noAllocation
  @inlinable public func isSame(as other: Self) -> Bool { microseconds == other.microseconds }

  /// The nearest value within `lowest`…`highest`.
  @_noLocks @_noAllocation
  @inlinable public func clamped(from lowest: Self, to highest: Self) -> Self {
    self < lowest ? lowest : highest < self ? highest : self
  }
}
