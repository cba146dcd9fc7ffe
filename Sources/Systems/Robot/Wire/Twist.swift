/// A commanded motion of the whole robot: forward and turning, in SI units.
///
/// The name is that of ROS (`geometry_msgs/Twist`).
public struct Twist: Sendable, Hashable, BitwiseCopyable {
  /// The forward speed in m/s; negative drives backward.
  public var metresPerSecond: Double
  /// The turn in rad/s; positive turns to the left, counter-clockwise seen from above.
  public var radiansPerSecond: Double

  /// Creates a motion from its forward speed in m/s and its turn in rad/s.
  @_noLocks @_noAllocation
  public init(metresPerSecond: Double, radiansPerSecond: Double) {
    self.metresPerSecond = metresPerSecond
    self.radiansPerSecond = radiansPerSecond
  }

  /// The magnitude that no forward speed (m/s) and no turn (rad/s) from outside may exceed: far more than any robot can do, and small
  /// enough that a number in another unit is noticed.
  public static var most: Double {
    @_noLocks @_noAllocation get { 100 }
  }

  /// Whether the robot is asked to stand still.
  public var isZero: Bool {
    @_noLocks @_noAllocation get { metresPerSecond == 0 && radiansPerSecond == 0 }
  }

  /// Whether both numbers are finite and within ±`most`.
  public var isInRange: Bool {
    @_noLocks @_noAllocation get {
      // A NaN is inside no range.
      metresPerSecond.magnitude <= Self.most && radiansPerSecond.magnitude <= Self.most
    }
  }
}
