import TactusDaemon

/// Keys of the robot.
extension ConfigTable {
  static let robot: [ConfigKey] = robotPort + motors + safeMode + runtimeRobot

  private static let robotPort: [ConfigKey] = [
    ConfigKey(
      "network.motor_udp_port", .integer(0...65535), .integer(5005), "UDP port of motor commands; 0 takes any free one."
    ),
    ConfigKey(
      "performance.udp_buffer_size", .integer(64...1024), .integer(1024),
      "Longest motor datagram in bytes; a longer one is malformed."),
  ]

  private static let motors: [ConfigKey] = [
    ConfigKey(
      "motors.backend", .choice(["yb-pcb-car", "raspbot-v2", "xgo-rider", "sim"]), .text("yb-pcb-car"),
      "The board: yb-pcb-car (I2C 0x16), raspbot-v2 (I2C 0x2B), xgo-rider (serial) or sim (no hardware)."),
    ConfigKey("motors.i2c_bus", .integer(0...255), .integer(1), "Number N of /dev/i2c-N."),
    ConfigKey(
      "motors.i2c_address", .integer(0x08...0x77), nil,
      "The board's I2C address. Unless given: 0x16, or 0x2B for raspbot-v2."),
    ConfigKey("motors.serial_device", .text, .text("/dev/ttyAMA0"), "The xgo-rider's serial device, 115200 8N1."),
    ConfigKey(
      "motors.speed_limit", .number(0...100), .number(100), "Fastest wheel speed accepted, in percent of full speed.",
      mayChange: true),
    ConfigKey(
      "motors.acceleration", .number(0...100), .number(50),
      "Ramp: speed rises by 4 × this many percent per second (50: from 0 to 100 in half a second); 0 means no ramp.",
      mayChange: true),
    ConfigKey(
      "motors.command_timeout", .number(0.1...10), .number(1),
      "Seconds without a valid newer command after which the motors stop.", mayChange: true),
    ConfigKey("motors.invert_left", .boolean, .boolean(false), "The left motor is wired the other way round."),
    ConfigKey("motors.invert_right", .boolean, .boolean(false), "The right motor is wired the other way round."),
    ConfigKey("motors.max_duty", .integer(1...255), .integer(255), "Board value of 100 %."),
    ConfigKey(
      "motors.min_duty", .integer(0...255), .integer(0),
      "Smallest board value of a turning wheel: gear motors stall below about 30."),
    ConfigKey(
      "motors.legacy_register", .boolean, .boolean(false),
      "Write speeds to register 0x00 in percent as the original script did, instead of the board's register 0x01."),
  ]

  private static let safeMode: [ConfigKey] = [
    ConfigKey(
      "safety.safe_mode", .boolean, .boolean(false),
      "The robot drives no faster than safety.safe_mode_speed_limit, whatever motors.speed_limit says.", mayChange: true
    ),
    ConfigKey(
      "safety.safe_mode_speed_limit", .number(0...100), .number(50),
      "Fastest wheel speed in the safe mode, in percent of full speed.", mayChange: true),
  ]

  private static let runtimeRobot: [ConfigKey] =
    [
      ConfigKey(
        "runtime.robot.rate_hz", .integer(5...1000), .integer(20), "Ticks per second of the motors' loop, in hertz.")
    ]
    + lane(
      "runtime.robot", "the motors' lane", priority: 80,
      safeStateAfter: (10, "the robot stops and is in fault until a reset"))
}
