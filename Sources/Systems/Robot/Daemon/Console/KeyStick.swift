import Robot
import Tactus

/// A joystick made of keys. A terminal tells presses and repeats but no release, so a direction lapses by itself.
///
/// Bound: 700 ms after a first press (keyboards wait up to 660 ms before they repeat), 250 ms after a repeat. A press of
/// one axis holds the other too while that is still held, because a keyboard repeats the last key only; so curves can be
/// driven, and letting go of all keys stops the robot.
struct KeyStick: Equatable {
  private struct Axis: Equatable {
    /// −1, 0 or 1.
    var direction = 0.0
    var heldUntil = TickInstant.zero
    var isRepeating = false

    mutating func press(_ direction: Double, at now: TickInstant) {
      isRepeating = self.direction == direction && now < heldUntil
      self.direction = direction
      hold(at: now)
    }

    mutating func hold(at now: TickInstant) {
      heldUntil = max(heldUntil, now + (isRepeating ? Nanoseconds.milliseconds(250) : .milliseconds(700)))
    }

    mutating func lapse(at now: TickInstant) {
      if now >= heldUntil { self = Axis() }
    }
  }

  private var forward = Axis()
  private var turn = Axis()
  /// Full stick is this share of full speed.
  private(set) var tenths = 5
  /// While it is off, because nobody answers, all directions are let go and none is taken.
  var isOff = false {
    didSet { if isOff { letGo() } }
  }

  mutating func press(_ key: DriveKey, at now: TickInstant) {
    lapse(at: now)
    switch key {
    case .forward where isOff, .back where isOff, .right where isOff, .left where isOff: break
    case .forward: drive(1, at: now)
    case .back: drive(-1, at: now)
    case .right: steer(1, at: now)
    case .left: steer(-1, at: now)
    case .speed(let tenths): self.tenths = tenths
    case .rest, .emergencyStop, .reset, .quit: letGo()
    }
  }

  private mutating func letGo() {
    forward = Axis()
    turn = Axis()
  }

  /// Lets directions go whose time is over.
  mutating func lapse(at now: TickInstant) {
    forward.lapse(at: now)
    turn.lapse(at: now)
  }

  /// x and y, −1…1; a turn while driving is a curve.
  var input: OperatorInput {
    let scale = Double(tenths) / 10
    if forward.direction == 0 && turn.direction == 0 { return .rest }
    let curve = forward.direction == 0 ? 1 : 0.4
    return .joystick(x: turn.direction * curve * scale, y: forward.direction * scale)
  }

  private mutating func drive(_ direction: Double, at now: TickInstant) {
    forward.press(direction, at: now)
    if turn.direction != 0 { turn.hold(at: now) }
  }

  private mutating func steer(_ direction: Double, at now: TickInstant) {
    turn.press(direction, at: now)
    if forward.direction != 0 { forward.hold(at: now) }
  }
}
