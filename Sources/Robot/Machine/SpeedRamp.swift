import Tactus
import Wire

/// The slew limit of the wheels: growing is bounded, shrinking is immediate, a change of sign passes through zero.
enum SpeedRamp {
  /// One wheel's next output. `rise` is how much |speed| may grow by now, in percent.
  ///
  /// Returns 0 when the sign changes; the next step, at a later instant, starts from there.
  @_noLocks @_noAllocation
  static func next(from output: Percent, toward target: Percent, rise: Double) -> Percent {
    let now = output.value
    let goal = target.value
    if now < 0 ? goal > 0 : now > 0 && goal < 0 { return Percent(0) }
    let magnitude = min(goal.magnitude, now.magnitude + rise)
    return Percent(goal < 0 ? -magnitude : magnitude)
  }
}

extension Control {
  /// Brings `output` up to `now`: depends on elapsed time only, not on how often it is called.
  @_noLocks @_noAllocation
  mutating func ramp(to now: TickInstant, _ settings: RobotSettings) {
    let elapsed = now - rampedAt
    // Without a ramp, too, nothing grows within the instant of the last step, or two datagrams of one drain could jump
    // from forward to reverse.
    let rise: Double
    if elapsed.count <= 0 {
      rise = 0
    } else if let slew = settings.slewPerSecond {
      rise = slew * elapsed.inSeconds
    } else {
      rise = .infinity
    }
    let limit = settings.speedLimit
    output.left = SpeedRamp.next(from: output.left, toward: target.left.clamped(to: limit), rise: rise)
    output.right = SpeedRamp.next(from: output.right, toward: target.right.clamped(to: limit), rise: rise)
    rampedAt = max(rampedAt, now)
  }
}
