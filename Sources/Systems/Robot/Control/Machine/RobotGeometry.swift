import Wire

/// What must be known of a robot on two wheels to convert between SI units and the speeds of its wheels, checked when created.
public struct RobotGeometry: Sendable, Hashable, BitwiseCopyable {
  /// The allowed distances between the wheels, in m.
  public static let wheelBases = 0.01...5.0
  /// The allowed speeds of a wheel at 100 %, in m/s.
  public static let topSpeeds = 0.01...20.0

  /// The distance between the middles of the two wheels, in m.
  public let wheelBaseMetres: Double
  /// The speed of a wheel over the ground at 100 %, in m/s.
  public let topSpeedMetresPerSecond: Double

  /// Creates a checked geometry. Throws the first number that is out of range.
  public init(wheelBaseMetres: Double, topSpeedMetresPerSecond: Double) throws(RobotSettingsError) {
    // A NaN is inside no range.
    guard Self.wheelBases.contains(wheelBaseMetres) else { throw .wheelBase(wheelBaseMetres) }
    guard Self.topSpeeds.contains(topSpeedMetresPerSecond) else { throw .topSpeed(topSpeedMetresPerSecond) }
    self.wheelBaseMetres = wheelBaseMetres
    self.topSpeedMetresPerSecond = topSpeedMetresPerSecond
  }

  /// Returns the speeds of the wheels for a motion, and the share of the motion that they are: 1, or less if a wheel would have to be
  /// faster than `limit`. Then both are scaled together, so that the robot drives the same curve, slower.
  ///
  /// With a limit of 0 % the speeds are those that 100 % allow: a motion that the limit forbids entirely is not a stop.
  @_noLocks @_noAllocation
  public func wheels(_ twist: Twist, limit: Percent) -> (speeds: WheelSpeeds, share: Double) {
    let forward = twist.metresPerSecond
    let turn = twist.radiansPerSecond * wheelBaseMetres / 2
    let left = (forward - turn) * 100 / topSpeedMetresPerSecond
    let right = (forward + turn) * 100 / topSpeedMetresPerSecond
    let most = limit.value > 0 && limit.value < 100 ? limit.value : 100
    let largest = left.magnitude > right.magnitude ? left.magnitude : right.magnitude
    guard largest > most else { return (WheelSpeeds(left: Percent(left), right: Percent(right)), 1) }
    let share = most / largest
    return (
      WheelSpeeds(
        left: Percent(left * share).clamped(to: Percent(most)), right: Percent(right * share).clamped(to: Percent(most))
      ),
      share
    )
  }

  /// Returns the motion of a robot whose wheels turn at these speeds.
  @_noLocks @_noAllocation
  public func twist(_ speeds: WheelSpeeds) -> Twist {
    let left = speeds.left.value / 100 * topSpeedMetresPerSecond
    let right = speeds.right.value / 100 * topSpeedMetresPerSecond
    return Twist(metresPerSecond: (left + right) / 2, radiansPerSecond: (right - left) / wheelBaseMetres)
  }
}
