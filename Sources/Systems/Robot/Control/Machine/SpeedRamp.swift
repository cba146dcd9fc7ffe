import Tactus
import Wire

/// The slew limit of the wheels: a rise of speed is limited, a decrease is immediate, and a change of sign passes through zero.
enum SpeedRamp {
  /// Returns the output of one wheel, up to `rise` percent beyond `base`, which is its output at the instant before.
  ///
  /// Returns 0 if the sign of the target differs from that of `base` or of `said`, the output already given for this instant.
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
  /// Brings `output` up to `now`. The result depends on elapsed time only, not on the number of calls.
  @_noLocks @_noAllocation
  mutating func ramp(to now: TickInstant, _ settings: RobotSettings) {
    let rise = advance(to: now, settings)
    let limit = Mechanism.speedLimit.acts ? settings.speedLimit : Percent(100)
    var goal = WheelSpeeds(left: target.left.clamped(to: limit), right: target.right.clamped(to: limit))
    if case .some = forwardStop { goal = goal.turn }
    output.left = SpeedRamp.next(from: base.left, said: output.left, toward: goal.left, rise: rise)
    output.right = SpeedRamp.next(from: base.right, said: output.right, toward: goal.right, rise: rise)
    // The wheels do not speed up alike, and one of them alone would drive forward.
    if case .some = forwardStop { output = output.evenTurn }
  }

  /// Brings `output` nearer to zero, as fast as the ramp lets speeds rise, and both wheels by the same share, so that a curve stays one.
  @_noLocks @_noAllocation
  mutating func fade(to now: TickInstant, _ settings: RobotSettings) {
    let fall = advance(to: now, settings)
    let (left, right) = (base.left.value.magnitude, base.right.value.magnitude)
    let fastest = left > right ? left : right
    let share = fastest > fall ? (fastest - fall) / fastest : 0
    output = WheelSpeeds(left: Percent(base.left.value * share), right: Percent(base.right.value * share))
  }

  /// Makes `now` the instant of the next output. Returns by how much a wheel's speed may change since the output of the instant before.
  @_noLocks @_noAllocation
  private mutating func advance(to now: TickInstant, _ settings: RobotSettings) -> Double {
    if now > rampedAt {
      base = output
      baseAt = rampedAt
      rampedAt = now
    }
    let elapsed = rampedAt - baseAt
    if elapsed.count <= 0 { return 0 }
    if let slew = settings.slewPerSecond, Mechanism.acceleration.acts { return slew * elapsed.inSeconds }
    return .infinity
  }
}
