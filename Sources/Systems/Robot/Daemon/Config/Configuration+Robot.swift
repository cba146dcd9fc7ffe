import Robot
import Tactus
import TactusDaemon
import Wire

extension Configuration {
  /// The robot: its board, its rules, its port.
  struct Motors: Equatable, Sendable {
    enum Backend: String, Equatable {
      case ybPcbCar = "yb-pcb-car"
      case raspbotV2 = "raspbot-v2"
      case xgoRider = "xgo-rider"
      case sim
    }

    var backend: Backend
    var i2cBus: Int
    var i2cAddress: UInt8
    var serialDevice: String
    /// Of motor commands; 0: any free one.
    var port: UInt16
    /// In effect: the safe mode's where that is less.
    var speedLimitPercent: Double
    var longestDatagram: Int
    var acceleration: Double
    var commandTimeoutSeconds: Double
    var invertLeft: Bool
    var invertRight: Bool
    var maxDuty: UInt8
    var minDuty: UInt8
    var legacyRegister: Bool
    var rateHertz: Int
    var scheduling: Scheduling
    var safeStateAfter: Int
    var cpus: CPUSet?
  }
}

extension Configuration.Motors {
  /// Fails if the file has no `motors` section.
  init?(_ found: ConfigReader.Result) {
    guard found.sections.contains("motors") else { return nil }
    let given = GivenValues(values: found.values)
    // The table lists exactly the raw values.
    let backend = Backend(rawValue: given.text("motors.backend"))!
    self.init(
      backend: backend,
      i2cBus: given.integer("motors.i2c_bus"),
      i2cAddress: UInt8(given.optionalInteger("motors.i2c_address") ?? (backend == .raspbotV2 ? 0x2B : 0x16)),
      serialDevice: given.text("motors.serial_device"),
      port: UInt16(given.integer("network.motor_udp_port")),
      speedLimitPercent: given.boolean("safety.safe_mode")
        ? min(given.number("motors.speed_limit"), given.number("safety.safe_mode_speed_limit"))
        : given.number("motors.speed_limit"),
      longestDatagram: given.integer("performance.udp_buffer_size"),
      acceleration: given.number("motors.acceleration"),
      commandTimeoutSeconds: given.number("motors.command_timeout"),
      invertLeft: given.boolean("motors.invert_left"),
      invertRight: given.boolean("motors.invert_right"),
      maxDuty: UInt8(given.integer("motors.max_duty")),
      minDuty: UInt8(given.integer("motors.min_duty")),
      legacyRegister: given.boolean("motors.legacy_register"),
      rateHertz: given.integer("runtime.robot.rate_hz"), scheduling: .init(given, "runtime.robot"),
      safeStateAfter: given.integer("runtime.robot.safe_state_after"), cpus: given.optionalCPUs("runtime.robot.cpu"))
  }

  /// The table's ranges and `errors` leave nothing to refuse.
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
