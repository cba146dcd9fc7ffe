import Tactus
import Wire

/// The slew limit of the wheels: growing is bounded, shrinking is immediate, a change of sign passes through zero.
enum SpeedRamp {
  /// One wheel's output at an instant: up to `rise` percent beyond `base`, its output at the instant before.
  ///
  /// 0 when the sign differs from `base`, or from what was already said for this instant.
  @_noLocks @_noAllocation
  static func next(from base: Percent, said: Percent, toward target: Percent, rise: Double) -> Percent {
    let goal = target.value
    if Mechanism.signThroughZero.acts, opposes(goal, base.value) || opposes(goal, said.value) { return Percent(0) }
    let bound = base.value.magnitude + rise
    let magnitude = goal.magnitude < bound ? goal.magnitude : bound
    return Percent(goal < 0 ? -magnitude : magnitude)
  }

  @_noLocks @_noAllocation
  private static func opposes(_ one: Double, _ other: Double) -> Bool {
    one < 0 ? other > 0 : one > 0 && other < 0
  }
}

extension Control {
  /// Brings `output` up to `now`: depends on elapsed time only, not on how often it is called.
  @_noLocks @_noAllocation
  mutating func ramp(to now: TickInstant, _ settings: RobotSettings) {
    if now > rampedAt {
      base = output
      baseAt = rampedAt
      rampedAt = now
    }
    let elapsed = rampedAt - baseAt
    let rise: Double
    if elapsed.count <= 0 {
      rise = 0
    } else if let slew = settings.slewPerSecond, Mechanism.acceleration.acts {
      rise = slew * elapsed.inSeconds
    } else {
      rise = .infinity
    }
    let limit = Mechanism.speedLimit.acts ? settings.speedLimit : Percent(100)
    output.left = SpeedRamp.next(
      from: base.left, said: output.left, toward: target.left.clamped(to: limit), rise: rise)
    output.right = SpeedRamp.next(
      from: base.right, said: output.right, toward: target.right.clamped(to: limit), rise: rise)
  }
}
