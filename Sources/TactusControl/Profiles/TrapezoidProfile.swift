import Tactus

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

/// The fastest motion to a target at rest under limits of velocity and acceleration, from any position and velocity.
///
///     let profile = try TrapezoidProfile(
///       from: angle, velocity: speed, to: 1.57, velocityLimit: 2, accelerationLimit: 10)
///     let wanted = profile.state(at: tick.started - begun)   // each tick, until isOver(at:)
///
/// The profile is a function of the time since its start: no error accumulates, a late or missed tick stays on the path, and from
/// `duration` on the position is exactly the target. For a new target during the motion, create a new profile from the present
/// state. A motion that starts faster than the limit brakes to the limit first; one that starts too fast for the target overshoots
/// it and returns.
///
/// Source: time-optimal (bang–bang) control of a double integrator with a bounded velocity; Biagiotti, Melchiorri,
/// *Trajectory Planning for Automatic Machines and Robots* (2008), section 3.2.
public struct TrapezoidProfile: Sendable, BitwiseCopyable {
  /// The position at which the motion ends.
  public let target: Double
  /// The time from start to end, rounded up to a nanosecond.
  public let duration: Nanoseconds
  private let start: MotionState
  private let direction: Double  // of the last part: 1 or −1; the values below are relative to it
  private let acceleration: Double  // of the first part, relative to `direction`
  private let braking: Double  // of the last part, above 0
  private let cruise: Double  // velocity, 0 or more
  private let first: Double, second: Double, total: Double  // s: end of the first part, of the second, of all

  /// Plans the motion from a position and a velocity to rest at `target`.
  ///
  /// - Parameters:
  ///   - position: the initial position, in units.
  ///   - velocity: the initial velocity in units/s, in either direction.
  ///   - target: the final position at rest, in units.
  ///   - velocityLimit: the greatest velocity in units/s, above 0.
  ///   - accelerationLimit: the greatest acceleration in units/s², above 0, for speeding up and for braking.
  /// - Throws: `ControlSettingError` for a number that is not finite or a limit not above 0, and for a motion of over 290 years.
  @_noLocks @_noAllocation
  public init(
    from position: Double, velocity: Double = 0, to target: Double, velocityLimit: Double, accelerationLimit: Double
  ) throws(ControlSettingError) {
    try ControlSettingError.check(true, .position, position)
    try ControlSettingError.check(true, .position, target)
    try ControlSettingError.check(true, .velocity, velocity)
    try ControlSettingError.check(velocityLimit > 0, .velocityLimit, velocityLimit)
    try ControlSettingError.check(accelerationLimit > 0, .accelerationLimit, accelerationLimit)
    // An immediate braking would end at `stop`. The last part of the motion leads from there in the direction of the
    // target.
    let stop = position + velocity * velocity.magnitude / (2 * accelerationLimit)
    let direction: Double = target >= stop ? 1 : -1
    let distance = direction * (target - position)
    let speed = direction * velocity
    let peak = Math.sqrt(max(0, accelerationLimit * distance + speed * speed / 2))
    let cruise = peak < velocityLimit ? max(peak, speed) : velocityLimit
    let acceleration = speed > cruise ? -accelerationLimit : accelerationLimit
    let first = (cruise - speed) / acceleration
    let ways = (cruise * cruise - speed * speed) / (2 * acceleration) + cruise * cruise / (2 * accelerationLimit)
    let second = peak < velocityLimit ? first : first + max(0, distance - ways) / cruise
    let total = second + cruise / accelerationLimit
    guard total < 9e9 else { throw ControlSettingError(.travelTime, total) }
    self.target = target
    self.direction = direction
    self.acceleration = acceleration
    self.cruise = cruise
    (self.first, self.second, self.total) = (first, second, total)
    start = MotionState(position: position, velocity: velocity)
    braking = accelerationLimit
    duration = Nanoseconds(clampingSeconds: Math.ceil(total * 1e9) / 1e9) ?? .zero
  }

  /// Returns the state of the motion at a time after its start: before the start it is the initial state, after the end the target at rest.
  @_noLocks @_noAllocation
  public func state(at elapsed: Nanoseconds) -> MotionState {
    let time = elapsed.inSeconds
    guard elapsed.count > 0 || total <= 0 else { return start }
    guard elapsed < duration, time < total else { return MotionState(position: target) }
    guard time < second else {
      let left = total - time
      return MotionState(
        position: target - direction * braking * left * left / 2, velocity: direction * braking * left,
        acceleration: -direction * braking)
    }
    let speed = direction * start.velocity
    guard time >= first else {
      return MotionState(
        position: start.position + direction * (speed + acceleration * time / 2) * time,
        velocity: direction * (speed + acceleration * time), acceleration: direction * acceleration)
    }
    let way = (speed + cruise) / 2 * first + cruise * (time - first)
    return MotionState(position: start.position + direction * way, velocity: direction * cruise)
  }

  /// Returns whether the target has been reached.
  @_noLocks @_noAllocation
  public func isOver(at elapsed: Nanoseconds) -> Bool { !(elapsed < duration) }
}
