/// The time for which a servo's line is high in each period, in whole microseconds. It sets the position of a hobby servo.
public struct PulseWidth: Sendable, Hashable, Comparable, BitwiseCopyable {
  /// The number of microseconds, 0…65535. Servos accept 500…2500; the middle is usually 1500.
  public var microseconds: UInt16

  @_noLocks @_noAllocation
  @inlinable public init(microseconds: UInt16) { self.microseconds = microseconds }

  @_noLocks @_noAllocation
  @inlinable public static func microseconds(_ count: UInt16) -> Self { Self(microseconds: count) }

  /// The shortest pulse that hobby servos accept, 500 µs.
  public static var shortest: Self {
    @_noLocks @_noAllocation @inlinable get { Self(microseconds: 500) }
  }
  /// The longest pulse that hobby servos accept, 2500 µs.
  public static var longest: Self {
    @_noLocks @_noAllocation @inlinable get { Self(microseconds: 2500) }
  }
  /// The usual middle of a servo's travel, 1500 µs.
  public static var middle: Self {
    @_noLocks @_noAllocation @inlinable get { Self(microseconds: 1500) }
  }

  @_noLocks @_noAllocation
  @inlinable public static func < (left: Self, right: Self) -> Bool { left.microseconds < right.microseconds }

  /// Returns whether both are equal. For ticks, since the compiler cannot prove the derived `==`.
  @_noLocks @_noAllocation
  @inlinable public func isSame(as other: Self) -> Bool { microseconds == other.microseconds }

  /// Returns the nearest value within `lowest`…`highest`.
  @_noLocks @_noAllocation
  @inlinable public func clamped(from lowest: Self, to highest: Self) -> Self {
    self < lowest ? lowest : highest < self ? highest : self
  }
}
