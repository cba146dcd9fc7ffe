import Tactus

/// The fastest motion from rest to rest under limits of velocity, acceleration and jerk: seven symmetrical parts without a step in
/// the acceleration, so that elastic parts of a machine are not excited.
///
/// The profile is a function of the time since its start, like `TrapezoidProfile`; from `duration` on the position is exactly the
/// target. The motion starts at rest: for a new target during the motion, let it end first or use a `TrapezoidProfile`.
///
/// Source: Biagiotti, Melchiorri, *Trajectory Planning for Automatic Machines and Robots* (2008), section 3.4 (double
/// S).
public struct SCurveProfile: Sendable, BitwiseCopyable {
  /// The positions at which the motion starts and ends.
  public let start: Double, target: Double
  /// The time from start to end, rounded up to a nanosecond.
  public let duration: Nanoseconds
  private let direction: Double
  private let jerk: Double
  private let ramp: Double  // s, while the acceleration changes
  private let rise: Double  // s, while the velocity changes
  private let cruise: Double  // velocity, units/s
  private let total: Double  // s

  /// Plans the motion from rest at `start` to rest at `target`.
  ///
  /// - Parameters:
  ///   - start: the initial position at rest, in units.
  ///   - target: the final position at rest, in units.
  ///   - velocityLimit: the greatest velocity in units/s, above 0.
  ///   - accelerationLimit: the greatest acceleration in units/s², above 0.
  ///   - jerkLimit: the greatest jerk in units/s³, above 0.
  /// - Throws: `ControlSettingError` for a number that is not finite or a limit not above 0, and for a motion of over 290 years.
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
    // The phases are first computed as if the velocity limit were reached, …
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

  /// Returns the state of the motion at a time after its start: before the start it is the initial state, after the end the target at rest.
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

  /// Returns whether the target has been reached.
  @_noLocks @_noAllocation
  public func isOver(at elapsed: Nanoseconds) -> Bool { !(elapsed < duration) }

  /// Returns the state of the rising part of the motion, from rest upward, for 0 ≤ `time` ≤ `rise`.
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
