import Tactus

/// The steps of a stepper motor whose rate approaches a wanted rate with limited acceleration.
///
///     ramp.approach(400, at: tick.started)                  // steps/s; 0 brakes, a negative rate turns back
///     let due = ramp.position(at: tick.started) - stepped   // each tick: not 0 while a step is due
///
/// Rate and position are functions of the time since the last change of the wanted rate: no error accumulates with the
/// ticks, and no step is lost by a late or missed one. A loop that raises and lowers the step line in ticks of its own
/// makes at most half as many steps a second as it has ticks; the rate limit lies below that, so that what a late tick
/// left is caught up with. For a number of steps that is known beforehand, `TrapezoidProfile` is the fastest way there.
public struct StepRamp: Sendable, BitwiseCopyable {
  /// The rate that is approached, in steps/s; negative backwards.
  public private(set) var target = 0.0
  private let rateLimit: Double, acceleration: Double
  // The motion at `origin`: the whole steps, the part of the next one (0…1), and the rate.
  private var origin = TickInstant.zero
  private var whole = 0
  private var part = 0.0
  private var initial = 0.0

  /// Creates a motor at rest at position 0.
  ///
  /// - Parameters:
  ///   - rateLimit: the greatest rate in steps/s, in both directions, above 0; 10⁹ if it is more.
  ///   - accelerationLimit: the greatest acceleration in steps/s², above 0, for speeding up and for braking.
  /// - Throws: `ControlSettingError` for a limit that is not above 0 or not finite.
  @_noLocks @_noAllocation
  public init(rateLimit: Double, accelerationLimit: Double) throws(ControlSettingError) {
    try ControlSettingError.check(rateLimit > 0, .velocityLimit, rateLimit)
    try ControlSettingError.check(accelerationLimit > 0, .accelerationLimit, accelerationLimit)
    (self.rateLimit, acceleration) = (min(rateLimit, 1e9), accelerationLimit)
  }

  /// Approaches a rate from now on, within the limits. A rate that is not finite changes nothing, and neither does the
  /// present target, so that every tick may ask for it.
  @_noLocks @_noAllocation
  public mutating func approach(_ rate: Double, at now: TickInstant) {
    let wanted = Math.clamp(rate, from: -rateLimit, to: rateLimit)
    guard rate.isFinite, wanted != target else { return }
    settle(at: now)
    target = wanted
  }

  /// Stops at once, without a ramp, for an emergency stop that takes the driver's current away.
  @_noLocks @_noAllocation
  public mutating func halt(at now: TickInstant) {
    settle(at: now)
    (initial, target) = (0, 0)
  }

  /// Returns the rate at an instant, in steps/s; negative backwards. Before the last change it is that of the change.
  @_noLocks @_noAllocation
  public func rate(at now: TickInstant) -> Double { motion(at: now).rate }

  /// Returns the number of whole steps made until an instant, less those made backwards.
  @_noLocks @_noAllocation
  public func position(at now: TickInstant) -> Int {
    whole &+ (Math.integer(Math.floor(part + motion(at: now).distance)) ?? 0)
  }

  /// Begins the motion again from its state at an instant.
  @_noLocks @_noAllocation
  private mutating func settle(at now: TickInstant) {
    let (distance, rate) = motion(at: now)
    let steps = Math.floor(part + distance)
    whole = position(at: now)
    part += distance - steps
    initial = rate
    if origin < now { origin = now }
  }

  @_noLocks @_noAllocation
  private func motion(at now: TickInstant) -> (distance: Double, rate: Double) {
    let time = max(0, (now - origin).inSeconds)
    let change = target - initial
    let ramp = change.magnitude / acceleration
    guard time < ramp else { return ((initial + target) / 2 * ramp + target * (time - ramp), target) }
    let slope = change < 0 ? -acceleration : acceleration
    return ((initial + slope * time / 2) * time, initial + slope * time)
  }
}
