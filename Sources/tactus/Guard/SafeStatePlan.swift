/// The safe-state writes of a configuration's actuators.
enum SafeStatePlan {
  /// Empty when there is no hardware.
  static func writes(for motors: Configuration.Motors) -> [SafeStateWrite] {
    let bus = "/dev/i2c-\(motors.i2cBus)"
    let address = motors.i2cAddress
    switch motors.backend {
    case .sim:
      return []
    case .ybPcbCar where motors.legacyRegister:
      return [.i2cBlock(path: bus, address: address, register: 0x00, bytes: [1, 0, 1, 0])]
    case .ybPcbCar:
      return [
        .i2cByte(path: bus, address: address, register: 0x02, byte: 0),
        .i2cBlock(path: bus, address: address, register: 0x01, bytes: [1, 0, 1, 0]),
      ]
    case .raspbotV2:
      return (0...3).map { .i2cBlock(path: bus, address: address, register: 0x01, bytes: [$0, 0, 0]) }
    case .xgoRider:
      // VX and VYAW neutral. Twice, because a serial line does not say whether a frame arrived whole.
      let neutral: [UInt8] =
        [0x55, 0x00, 0x09, 0x01, 0x30, 0x7F, 0x46, 0x00, 0xAA]
        + [0x55, 0x00, 0x09, 0x01, 0x32, 0x7F, 0x44, 0x00, 0xAA]
      return [.serial(path: motors.serialDevice, baud: 115200, bytes: neutral + neutral)]
    }
  }
}
