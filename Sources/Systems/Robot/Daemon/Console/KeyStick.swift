import Robot
import Tactus
import TactusDaemon

/// A key that the operator pressed.
enum DriveKey: Equatable {
  case forward, back, left, right
  /// Releases the stick.
  case rest
  case emergencyStop
  case reset
  case quit
  /// Sets the share of full speed at full stick, 1…10 tenths.
  case speed(tenths: Int)

  /// Creates the command of a key. The result is `nil` for a key without a command.
  init?(_ key: TerminalKey) {
    switch key {
    case .character("w"), .character("W"), .sequence(_, "A"): self = .forward
    case .character("s"), .character("S"), .sequence(_, "B"): self = .back
    case .character("a"), .character("A"), .sequence(_, "D"): self = .left
    case .character("d"), .character("D"), .sequence(_, "C"): self = .right
    case .character("x"), .character("X"), .character("\r"), .character("\n"): self = .rest
    case .character(" "): self = .emergencyStop
    case .character("r"), .character("R"): self = .reset
    case _ where key.quits: self = .quit
    default:
      guard let digit = key.digit else { return nil }
      self = .speed(tenths: digit == 0 ? 10 : digit)
    }
  }
}

/// A joystick made of keys. A terminal reports presses and repeats but no releases, so a direction expires by itself.
///
/// A direction is held for 700 ms after a first press (keyboards wait up to 660 ms before they repeat) and for 250 ms after a repeat. A
/// press for one axis also prolongs the other axis while that is still held, because a keyboard repeats only the last key. Curves can
/// thus be driven, and releasing all keys stops the robot.
struct KeyStick: Equatable {
  private struct Axis: Equatable {
    /// The direction along the axis: −1, 0 or 1.
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
  /// The share of full speed at full stick, in tenths.
  private(set) var tenths = 5
  /// Whether the stick is disabled because the robot does not answer. All directions are then released, and key presses are ignored.
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

  /// Releases the directions whose time is over.
  mutating func lapse(at now: TickInstant) {
    forward.lapse(at: now)
    turn.lapse(at: now)
  }

  /// The stick's x and y, −1…1 each. A turn while driving is a curve.
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
