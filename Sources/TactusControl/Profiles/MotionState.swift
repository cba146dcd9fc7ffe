/// Where a motion is: position in its units (mm, rad, …), velocity in units/s, acceleration in units/s².
public struct MotionState: Sendable, Hashable, BitwiseCopyable {
  /// The position, in the units of the motion (mm, rad, …).
  public var position: Double
  /// The velocity, units/s.
  public var velocity: Double
  /// The acceleration, units/s².
  public var acceleration: Double

  /// A motion at this position, at rest unless it is said otherwise.
  @_noLocks @_noAllocation @inlinable
  public init(position: Double, velocity: Double = 0, acceleration: Double = 0) {
    self.position = position
    self.velocity = velocity
    self.acceleration = acceleration
  }
}
