import Wire

/// What the person at the controls asks for.
public enum OperatorInput: Sendable, Hashable, BitwiseCopyable {
  /// Hands off.
  case rest
  /// A stick: x −1…1, positive turns right; y −1…1, positive drives forward.
  case joystick(x: Double, y: Double)
  /// Both wheels directly.
  case wheels(WheelSpeeds)

  /// The wheel speeds it stands for, −100…100 % each; zero when a number is not finite.
  ///
  /// Joystick: left = 100 (y + x), right = 100 (y − x), both scaled together into ±100 so that the curve stays the same,
  /// as the original app does (facts). Wheels: each clamped by itself.
  public var speeds: WheelSpeeds {
    @_noLocks @_noAllocation get {
      switch self {
      case .rest: return WheelSpeeds(left: Percent(0), right: Percent(0))
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
