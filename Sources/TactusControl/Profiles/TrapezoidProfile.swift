import Tactus

/// The fastest way to a target at rest under limits of velocity and acceleration, from any position and velocity.
///
///     let profile = try TrapezoidProfile(
///       from: angle, velocity: speed, to: 1.57, velocityLimit: 2, accelerationLimit: 10)
///     let wanted = profile.state(at: tick.started - begun)   // each tick, until isOver(at:)
///
/// A function of the time since its start: nothing adds up, a late or missed tick is on the path all the same, and from
/// `duration` on the position is the target, exactly. For a new target under way make a new profile from the state that
/// this one has then. A start faster than the limit is braked to it first; a start too fast for the target runs past it
/// and comes back.
///
/// Source: time-optimal (bang–bang) control of a double integrator with a bounded velocity; Biagiotti, Melchiorri,
/// *Trajectory Planning for Automatic Machines and Robots* (2008), section 3.2.
public struct TrapezoidProfile: Sendable, BitwiseCopyable {
  /// Where it ends.
  public let target: Double
  /// From start to end, up to the next nanosecond.
  public let duration: Nanoseconds
  private let start: MotionState
  private let direction: Double  // of the last part: 1 or −1; all below is seen in it
  private let acceleration: Double  // of the first part
  private let braking: Double  // of the last part, above 0
  private let cruise: Double  // velocity, 0 or more
  private let first: Double, second: Double, total: Double  // s: end of the first part, of the second, of all

  /// - Parameters:
  ///   - position: where it starts, in units.
  ///   - velocity: with which it starts, units/s, either direction.
  ///   - target: where it ends, in units, at rest.
  ///   - velocityLimit: units/s, above 0.
  ///   - accelerationLimit: units/s², above 0, for speeding up and for braking.
  /// - Throws: `ControlSettingError` for what is not finite or not above 0, and for a way that takes over 290 years.
  @_noLocks @_noAllocation
  public init(
    from position: Double, velocity: Double = 0, to target: Double, velocityLimit: Double, accelerationLimit: Double
  ) throws(ControlSettingError) {
    try ControlSettingError.check(true, .position, position)
    try ControlSettingError.check(true, .position, target)
    try ControlSettingError.check(true, .velocity, velocity)
    try ControlSettingError.check(velocityLimit > 0, .velocityLimit, velocityLimit)
    try ControlSettingError.check(accelerationLimit > 0, .accelerationLimit, accelerationLimit)
    // Braking at once would end here; the target lies on one side of it, and that way the last part leads.
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

  /// Where the motion is so long after its start: the start before it, the target at rest after the end.
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

  /// Returns whether the target is reached.
  @_noLocks @_noAllocation
  public func isOver(at elapsed: Nanoseconds) -> Bool { !(elapsed < duration) }
}
