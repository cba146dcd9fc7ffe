/// A share of full scale in percent. For wheel speeds −100 is full reverse and +100 full forward.
public struct Percent: Sendable, Hashable, Comparable, BitwiseCopyable {
  public var value: Double

  @_noLocks @_noAllocation
  @inlinable public init(_ value: Double) { self.value = value }

  public static var zero: Self {
    @_noLocks @_noAllocation @inlinable get { Self(0) }
  }

  @_noLocks @_noAllocation
  @inlinable public static func < (left: Self, right: Self) -> Bool { left.value < right.value }
  @_noLocks @_noAllocation
  @inlinable public static prefix func - (percent: Self) -> Self { Self(-percent.value) }

  /// Returns the nearest value within ±`limit`.
  @_noLocks @_noAllocation
  @inlinable public func clamped(to limit: Percent) -> Percent {
    Percent(Swift.max(-limit.value, Swift.min(limit.value, value)))
  }
}

/// The speeds of both wheels, −100…100 % each. Positive speeds drive forward.
public struct WheelSpeeds: Sendable, Hashable, BitwiseCopyable {
  public var left: Percent
  public var right: Percent

  @_noLocks @_noAllocation
  @inlinable public init(left: Percent, right: Percent) {
    self.left = left
    self.right = right
  }

  public static var zero: Self {
    @_noLocks @_noAllocation @inlinable get { Self(left: .zero, right: .zero) }
  }

  public var isZero: Bool {
    @_noLocks @_noAllocation @inlinable get { left.value == 0 && right.value == 0 }
  }
}
