import Robot
import Tactus
import TactusDaemon
import Wire

extension Configuration {
  /// The robot: its board, its rules, its port.
  struct Motors: FileSettings, Equatable {
    enum Backend: String, Word {
      case ybPcbCar = "yb-pcb-car"
      case raspbotV2 = "raspbot-v2"
      case xgoRider = "xgo-rider"
      case sim
    }

    /// Of motor commands; 0: any free one.
    var port: UInt16 = 5005
    var longestDatagram = 1024
    var backend = Backend.ybPcbCar
    var i2cBus = 1
    var givenI2CAddress: UInt8?
    var serialDevice = "/dev/ttyAMA0"
    var speedLimit = 100.0
    var acceleration = 50.0
    var commandTimeoutSeconds = 1.0
    var invertLeft = false
    var invertRight = false
    var maxDuty: UInt8 = 255
    var minDuty: UInt8 = 0
    var legacyRegister = false
    var isSafeMode = false
    var safeModeSpeedLimit = 50.0
    var rateHertz = 20
    // Of `runtime.robot`.
    var scheduling = Scheduling.normal
    var safeStateAfter = 0
    var cpus: CPUSet?
  }
}

extension Configuration.Motors {
  @DeclarationBuilder<Key<Self>> static var keys: [Key<Self>] {
    Key("network.motor_udp_port", \.port, in: 0...65535, "UDP port of motor commands; 0 takes any free one.")
    Key(
      "performance.udp_buffer_size", \.longestDatagram, in: 64...1024,
      "Longest motor datagram in bytes; a longer one is malformed.")
    ofBoard
    Key(
      "safety.safe_mode", \.isSafeMode,
      "The robot drives no faster than safety.safe_mode_speed_limit, whatever motors.speed_limit says."
    ).reloadable
    Key(
      "safety.safe_mode_speed_limit", \.safeModeSpeedLimit, in: 0...100,
      "Fastest wheel speed in the safe mode, in percent of full speed."
    ).reloadable
    Key("runtime.robot.rate_hz", \.rateHertz, in: 5...1000, "Ticks per second of the motors' loop, in hertz.")
  }

  @DeclarationBuilder<Key<Self>> private static var ofBoard: [Key<Self>] {
    Key(
      "motors.backend", \.backend,
      "The board: yb-pcb-car (I2C 0x16), raspbot-v2 (I2C 0x2B), xgo-rider (serial) or sim (no hardware).")
    Key("motors.i2c_bus", \.i2cBus, in: 0...255, "Number N of /dev/i2c-N.")
    Key(
      "motors.i2c_address", \.givenI2CAddress, in: 0x08...0x77,
      "The board's I2C address. Unless given: 0x16, or 0x2B for raspbot-v2.")
    Key("motors.serial_device", \.serialDevice, "The xgo-rider's serial device, 115200 8N1.")
    Key(
      "motors.speed_limit", \.speedLimit, in: 0...100, "Fastest wheel speed accepted, in percent of full speed."
    ).reloadable
    Key(
      "motors.acceleration", \.acceleration, in: 0...100,
      "Ramp: speed rises by 4 × this many percent per second (50: from 0 to 100 in half a second); 0 means no ramp."
    ).reloadable
    Key(
      "motors.command_timeout", \.commandTimeoutSeconds, in: 0.1...10,
      "Seconds without a valid newer command after which the motors stop."
    ).reloadable
    Key("motors.invert_left", \.invertLeft, "The left motor is wired the other way round.")
    Key("motors.invert_right", \.invertRight, "The right motor is wired the other way round.")
    Key("motors.max_duty", \.maxDuty, in: 1...255, "Board value of 100 %.")
    Key(
      "motors.min_duty", \.minDuty, in: 0...255,
      "Smallest board value of a turning wheel: gear motors stall below about 30.")
    Key(
      "motors.legacy_register", \.legacyRegister,
      "Write speeds to register 0x00 in percent as the original script did, instead of the board's register 0x01.")
  }

  static let lane = LaneKeys(
    "runtime.robot", "the motors' lane", priority: 80,
    safeStateAfter: (10, "the robot stops and is in fault until a reset"))

  static let table: [ConfigKey] = keys.asTable() + lane.table

  /// Fails if the file has no `motors` section.
  init?(_ found: ConfigReader.Result) {
    guard found.sections.contains("motors") else { return nil }
    let given = GivenValues(values: found.values)
    self.init(given)
    let lane = Self.lane.values(given)
    (scheduling, safeStateAfter, cpus) = (lane.scheduling, lane.safeStateAfter, lane.cpus)
  }

  var i2cAddress: UInt8 { givenI2CAddress ?? (backend == .raspbotV2 ? 0x2B : 0x16) }

  /// In effect: the safe mode's where that is less.
  var speedLimitPercent: Double { isSafeMode ? min(speedLimit, safeModeSpeedLimit) : speedLimit }

  /// The keys' ranges and `errors` leave nothing to refuse.
  var robotSettings: RobotSettings {
    do {
      return try RobotSettings(
        failsafeTimeout: .seconds(commandTimeoutSeconds), speedLimit: Percent(speedLimitPercent),
        acceleration: acceleration, tickPeriod: Rate.hertz(Double(rateHertz)).period)
    } catch {
      preconditionFailure("the configuration let through what the robot refuses: \(error)")
    }
  }
}

// The control knows no daemon: what its type is to one is said here, and nowhere else.
// swift-format-ignore: AvoidRetroactiveConformances
extension RobotSettings: @retroactive ReloadableRules {}
