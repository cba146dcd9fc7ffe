/// Where a motion is: position in its units (mm, rad, …), velocity in units/s, acceleration in units/s².
public struct MotionState: Sendable, Hashable, BitwiseCopyable {
  public var position: Double
  public var velocity: Double
  public var acceleration: Double

  @_noLocks @_noAllocation @inlinable
  public init(position: Double, velocity: Double = 0, acceleration: Double = 0) {
    self.position = position
    self.velocity = velocity
    self.acceleration = acceleration
  }
}
