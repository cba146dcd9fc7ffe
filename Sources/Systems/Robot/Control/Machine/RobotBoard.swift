/// The boards that a robot may have, with their abilities besides turning wheels.
public enum RobotBoard: String, Sendable, Hashable, BitwiseCopyable, CaseIterable {
  /// The board of the Raspbot V1, on I2C.
  case ybPcbCar = "yb-pcb-car"
  /// The board of the Raspbot V2, on I2C, which measures the distance ahead.
  case raspbotV2 = "raspbot-v2"
  /// The board of the XGO Rider on a serial line, which measures its battery and its attitude.
  case xgoRider = "xgo-rider"

  /// Returns whether the board has an ability.
  @_noLocks @_noAllocation
  public func can(_ ability: BoardAbility) -> Bool {
    switch (self, ability) {
    case (.ybPcbCar, .panTilt): true
    case (.raspbotV2, .panTilt), (.raspbotV2, .lights), (.raspbotV2, .buzzer), (.raspbotV2, .line),
      (.raspbotV2, .distance):
      true
    case (.xgoRider, .battery), (.xgoRider, .attitude), (.xgoRider, .height), (.xgoRider, .balance): true
    case (.ybPcbCar, _), (.raspbotV2, _), (.xgoRider, _): false
    }
  }

  /// The abilities of the board, in the order of the cases.
  public var abilities: [BoardAbility] { BoardAbility.allCases.filter(can) }
}

/// An ability of a board besides turning wheels.
public enum BoardAbility: String, Sendable, Hashable, BitwiseCopyable, CaseIterable {
  /// The board turns a camera mount of two servos.
  case panTilt = "pan-tilt"
  /// The board has lights in any colour.
  case lights
  /// The board has a buzzer.
  case buzzer
  /// The board reads a line sensor.
  case line
  /// The board measures the charge of its battery.
  case battery
  /// The board measures roll and pitch.
  case attitude
  /// The board measures the distance ahead.
  case distance
  /// The board raises and lowers the body.
  case height
  /// The board levels the body's roll.
  case balance
}
