import Devices
import Tactus

/// An order to a fitting: a part of the board other than its motors.
public enum FittingOrder: Sendable, Hashable, BitwiseCopyable {
  /// Turns the camera mount to these whole degrees. `nil` leaves a servo as it is.
  case look(pan: Int?, tilt: Int?)
  /// Gives a colour to one light, numbered from 0, or to all lights if `light` is `nil`.
  case light(LightColour, light: Int?)
  /// Sounds the buzzer for the given time, 50 ms…5 s. The beep replaces the rest of an earlier one.
  case beep(Nanoseconds)
  /// Raises or lowers the body to the given height in millimetres, 60…120.
  case height(millimetres: Double)
  /// Switches the levelling of the body's roll on or off.
  case balance(Bool)

  /// The ability that a board needs for the order.
  var ability: BoardAbility {
    @_noLocks @_noAllocation get {
      switch self {
      case .look: .panTilt
      case .light: .lights
      case .beep: .buzzer
      case .height: .height
      case .balance: .balance
      }
    }
  }

  /// Whether the order moves something.
  var moves: Bool {
    @_noLocks @_noAllocation get {
      switch self {
      case .look, .height, .balance: true
      case .light, .beep: false
      }
    }
  }
}

/// One write to a fitting of the board.
enum FittingWrite: Sendable, Hashable, BitwiseCopyable {
  /// An angle of the pan servo in degrees. `wired` is the angle for the board, which is mirrored if the servo is
  /// inverted.
  case pan(degrees: Int, wired: Int)
  case tilt(degrees: Int, wired: Int)
  case allLights(LightColour)
  case light(Int, LightColour)
  case buzzer(isOn: Bool)
  case height(millimetres: Double)
  case balance(Bool)
}

extension IgnoreReason {
  /// Returns the refusal of an order for which the board lacks an ability.
  @_noLocks @_noAllocation
  static func lacking(_ ability: BoardAbility) -> IgnoreReason {
    switch ability {
    case .lights: .noLights
    case .buzzer: .noBuzzer
    case .height: .noHeight
    case .balance: .noBalance
    case .panTilt, .line, .battery, .attitude, .distance: .noPanTilt
    }
  }
}
