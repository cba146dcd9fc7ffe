import Tactus
import TactusControl
import Wire

/// The measures of a robot on two wheels that convert between SI units and the speeds of its wheels, checked when created.
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

  /// Returns the speeds of the wheels for a motion, and the share of the motion that these speeds make: 1, or less if a wheel would have to
  /// be faster than `limit`. Both wheels are then scaled together, so that the robot drives the same curve, slower.
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

/// The pose that a robot would have if its wheels had turned as commanded since the start: dead reckoning from commanded speeds. Nothing is measured,
/// so it drifts without bound: wheels slip, stall and need time to speed up.
public struct RobotOdometry: Sendable, Hashable, BitwiseCopyable {
  /// The position ahead of where the robot stood at the start, in m.
  public private(set) var x = 0.0
  /// The position to the left of where the robot stood at the start, in m.
  public private(set) var y = 0.0
  /// The direction relative to that at the start, in rad within ±π; positive is to the left.
  public private(set) var heading = 0.0

  @_noLocks @_noAllocation
  init() {}

  /// Moves along the arc that the wheels make at these speeds within `span`.
  @_noLocks @_noAllocation
  mutating func advance(by span: Nanoseconds, at speeds: WheelSpeeds, _ geometry: RobotGeometry) {
    guard span.count > 0, !speeds.isZero else { return }
    let motion = geometry.twist(speeds)
    let seconds = Double(span.count) * 1e-9
    let half = motion.radiansPerSecond * seconds / 2
    // The chord of the arc; sin(h) ÷ h is 1 where it would be 0 ÷ 0.
    let chord = motion.metresPerSecond * seconds * (half.magnitude > 1e-6 ? Math.sin(half) / half : 1)
    x += chord * Math.cos(heading + half)
    y += chord * Math.sin(heading + half)
    let turned = heading + 2 * half
    heading = turned - 2 * .pi * Math.round(turned / (2 * .pi))
  }
}
