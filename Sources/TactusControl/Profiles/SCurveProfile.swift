import Tactus

/// The fastest way from rest to rest under limits of velocity, acceleration and jerk: seven parts, symmetrical, without
/// a step in the acceleration, so that what is elastic is not struck.
///
/// A function of the time since its start, as `TrapezoidProfile` is; from `duration` on the position is the target,
/// exactly. It starts at rest: for a new target under way let it end, or use a `TrapezoidProfile`.
///
/// Source: Biagiotti, Melchiorri, *Trajectory Planning for Automatic Machines and Robots* (2008), section 3.4 (double
/// S).
public struct SCurveProfile: Sendable, BitwiseCopyable {
  /// Where it starts and ends.
  public let start: Double, target: Double
  /// From start to end, up to the next nanosecond.
  public let duration: Nanoseconds
  private let direction: Double
  private let jerk: Double
  private let ramp: Double  // s, while the acceleration changes
  private let rise: Double  // s, while the velocity changes
  private let cruise: Double  // velocity, units/s
  private let total: Double  // s

  /// - Parameters:
  ///   - start: position at rest, in units.
  ///   - target: position at rest, in units.
  ///   - velocityLimit: units/s, above 0.
  ///   - accelerationLimit: units/s², above 0.
  ///   - jerkLimit: units/s³, above 0.
  /// - Throws: `ControlSettingError` for what is not finite or not above 0, and for a way that takes over 290 years.
  @_noLocks @_noAllocation
  public init(
    from start: Double, to target: Double, velocityLimit: Double, accelerationLimit: Double, jerkLimit: Double
  ) throws(ControlSettingError) {
    try ControlSettingError.check(true, .position, start)
    try ControlSettingError.check(true, .position, target)
    try ControlSettingError.check(velocityLimit > 0, .velocityLimit, velocityLimit)
    try ControlSettingError.check(accelerationLimit > 0, .accelerationLimit, accelerationLimit)
    try ControlSettingError.check(jerkLimit > 0, .jerkLimit, jerkLimit)
    let distance = (target - start).magnitude
    // As if the velocity limit were reached, …
    let fullRamp = accelerationLimit / jerkLimit
    let isRampFull = velocityLimit >= accelerationLimit * fullRamp
    var ramp = isRampFull ? fullRamp : Math.sqrt(velocityLimit / jerkLimit)
    var rise = isRampFull ? ramp + velocityLimit / accelerationLimit : 2 * ramp
    var coast = distance / velocityLimit - rise
    if coast < 0 {  // … which takes a longer way.
      coast = 0
      if distance >= 2 * accelerationLimit * fullRamp * fullRamp {
        ramp = fullRamp
        rise = ramp / 2 + Math.sqrt(ramp * ramp / 4 + distance / accelerationLimit)
      } else {
        ramp = Math.cbrt(distance / (2 * jerkLimit))
        rise = 2 * ramp
      }
    }
    let total = 2 * rise + coast
    guard total < 9e9 else { throw ControlSettingError(.travelTime, total) }
    (self.start, self.target, jerk) = (start, target, jerkLimit)
    direction = target >= start ? 1 : -1
    (self.ramp, self.rise, self.total) = (ramp, rise, total)
    cruise = jerkLimit * ramp * (rise - ramp)
    duration = Nanoseconds(clampingSeconds: Math.ceil(total * 1e9) / 1e9) ?? .zero
  }

  /// Where the motion is so long after its start: the start before it, the target at rest after the end.
  @_noLocks @_noAllocation
  public func state(at elapsed: Nanoseconds) -> MotionState {
    let time = elapsed.inSeconds
    guard elapsed.count > 0 || total <= 0 else { return MotionState(position: start) }
    guard elapsed < duration, time < total else { return MotionState(position: target) }
    if time < rise {
      let up = rising(time)
      return MotionState(
        position: start + direction * up.position, velocity: direction * up.velocity,
        acceleration: direction * up.acceleration)
    }
    if time > total - rise {  // The first half, backward from the target.
      let down = rising(total - time)
      return MotionState(
        position: target - direction * down.position, velocity: direction * down.velocity,
        acceleration: -direction * down.acceleration)
    }
    return MotionState(
      position: start + direction * cruise * (rise / 2 + time - rise), velocity: direction * cruise)
  }

  /// Returns whether the target is reached.
  @_noLocks @_noAllocation
  public func isOver(at elapsed: Nanoseconds) -> Bool { !(elapsed < duration) }

  /// From rest upward, 0 ≤ `time` ≤ `rise`.
  @_noLocks @_noAllocation
  private func rising(_ time: Double) -> MotionState {
    if time < ramp {
      return MotionState(
        position: jerk * time * time * time / 6, velocity: jerk * time * time / 2, acceleration: jerk * time)
    }
    let left = rise - time
    if left < ramp {
      return MotionState(
        position: cruise * (rise / 2 - left) + jerk * left * left * left / 6,
        velocity: cruise - jerk * left * left / 2, acceleration: jerk * left)
    }
    let constant = jerk * ramp
    return MotionState(
      position: constant * (3 * time * (time - ramp) + ramp * ramp) / 6, velocity: constant * (time - ramp / 2),
      acceleration: constant)
  }
}
