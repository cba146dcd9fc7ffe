import Tactus
import TactusControl
import Wire

/// Where a robot should be if its wheels had turned as they were told since the start: dead reckoning from commanded speeds. Nothing is
/// measured, so it drifts without bound: wheels slip, stall and need time to speed up.
public struct RobotOdometry: Sendable, Hashable, BitwiseCopyable {
  /// The position ahead of where the robot stood at the start, in m.
  public private(set) var x = 0.0
  /// The position to the left of where the robot stood at the start, in m.
  public private(set) var y = 0.0
  /// The direction against that at the start, in rad within ±π; positive is to the left.
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
