import Wire

/// The state of the operator's controls.
public enum OperatorInput: Sendable, Hashable, BitwiseCopyable {
  /// The controls are released.
  case rest
  /// A joystick: x −1…1, positive turns right; y −1…1, positive drives forward.
  case joystick(x: Double, y: Double)
  /// Separate speeds for the two wheels.
  case wheels(WheelSpeeds)
  /// A motion of the whole robot in SI units, which only a robot that knows its wheel base and top speed obeys.
  case twist(Twist)

  /// The datagram that asks for this input.
  var datagram: RobotCommand {
    @_noLocks @_noAllocation get {
      if case .twist(let twist) = self, twist.isInRange { return .twist(twist) }
      return .drive(speeds)
    }
  }

  /// Whether no motion is requested.
  public var isRest: Bool {
    @_noLocks @_noAllocation get {
      if case .twist(let twist) = datagram { return twist.isZero }
      return speeds.isZero
    }
  }

  /// The wheel speeds for this input, −100…100 % each; zero if a number is not finite, and for a motion in SI units, whose speeds only the
  /// robot knows.
  ///
  /// Joystick: left = 100 (y + x), right = 100 (y − x), both scaled together into ±100 so that the curve stays the same, as in the
  /// original app (facts). Wheels: each clamped independently.
  public var speeds: WheelSpeeds {
    @_noLocks @_noAllocation get {
      switch self {
      case .rest, .twist: return WheelSpeeds(left: Percent(0), right: Percent(0))
      case .joystick(let x, let y):
        guard x.isFinite, y.isFinite else { return OperatorInput.rest.speeds }
        let turn = Percent(x).clamped(to: Percent(1)).value
        let forward = Percent(y).clamped(to: Percent(1)).value
        let left = 100 * (forward + turn)
        let right = 100 * (forward - turn)
        let largest = left.magnitude > right.magnitude ? left.magnitude : right.magnitude
        let scale = largest > 100 ? 100 / largest : 1
        return WheelSpeeds(left: Percent(left * scale), right: Percent(right * scale))
      case .wheels(let speeds):
        guard speeds.left.value.isFinite, speeds.right.value.isFinite else { return OperatorInput.rest.speeds }
        return WheelSpeeds(left: speeds.left.clamped(to: Percent(100)), right: speeds.right.clamped(to: Percent(100)))
      }
    }
  }
}
