/// The state of a motion: position in its units (mm, rad, …), velocity in units/s, acceleration in units/s².
public struct MotionState: Sendable, Hashable, BitwiseCopyable {
  /// The position, in the units of the motion (mm, rad, …).
  public var position: Double
  /// The velocity, in units/s.
  public var velocity: Double
  /// The acceleration, in units/s².
  public var acceleration: Double

  /// Creates a state at this position, at rest by default.
  @_noLocks @_noAllocation @inlinable
  public init(position: Double, velocity: Double = 0, acceleration: Double = 0) {
    self.position = position
    self.velocity = velocity
    self.acceleration = acceleration
  }
}
