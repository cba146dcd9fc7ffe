import Buses
@_spi(FromOutside) import Conversions
import Devices
import Robot
import Tactus
import TactusDaemon
import Wire

extension Robot {
  /// The robot's board and UDP port.
  public struct Wiring: Settings {
    enum Backend: String, Word {
      case ybPcbCar = "yb-pcb-car"
      case raspbotV2 = "raspbot-v2"
      case xgoRider = "xgo-rider"
      case sim
    }

    /// The UDP port of motor commands; 0 selects any free port.
    var port: UInt16 = 5005
    var longestDatagram = 1024
    var backend = Backend.ybPcbCar
    var i2cBus = 1
    var givenI2CAddress: UInt8?
    var serialDevice = "/dev/ttyAMA0"
    var invertLeft = false
    var invertRight = false
    var maxDuty: UInt8 = 255
    var minDuty: UInt8 = 0
    var legacyRegister = false
    var rateHertz = 20
    /// The distance between the wheels in m, or `nil` if the file does not give it.
    var wheelBase: Double?
    /// The speed of a wheel at 100 % in m/s, or `nil` if the file does not give it.
    var topSpeed: Double?
    /// The distance in mm nearer than which something ahead ends forward motion, or `nil` if the distance is not watched.
    var stopWithin: Int?
    /// The battery's charge in percent that is worth a notice, or `nil` if there is none.
    var batteryLow: Int?
    /// The battery's charge in percent at which the robot slows down and drives no more, or `nil` if there is none.
    var batteryStop: Int?
    /// The tilt in degrees beyond which the motors stop, or `nil` if there is none.
    var tiltStop: Int?
    /// The accelerometer that measures the attitude, or `nil` if the board measures it or nothing does.
    var accelerometer: KernelSensorName?
    /// The gyroscope that is used with the accelerometer, or `nil` if there is none.
    var gyroscope: KernelSensorName?
    /// The axes of the inertial sensors' chip that point forwards and up.
    var inertialForward = ChipAxis.x
    var inertialUp = ChipAxis.z
    /// The limits of the camera mount in degrees, each `nil` unless the file gives it.
    var panMin: Int?
    var panMax: Int?
    var tiltMin: Int?
    var tiltMax: Int?
    var invertPan = false
    var invertTilt = false
    /// The rate at which the camera mount turns, in degrees per second, or `nil` if the file does not give it.
    var mountRate: Int?
    /// Whether the line sensor is read.
    var lineSensor = false
    /// Whether clients of ROS are served at `/rosbridge`.
    var rosbridge = false

    public init() {}

    public static var keys: [Key<Wiring>] {
      Key("network.motor_udp_port", \.port, in: 0...65535, "UDP port of motor commands; 0 takes any free one.")
      Key(
        "performance.udp_buffer_size", \.longestDatagram, in: 64...1024,
        "Longest motor datagram in bytes; a longer one is malformed.")
      Key(
        "backend", \.backend,
        "The board: yb-pcb-car (I2C 0x16), raspbot-v2 (I2C 0x2B), xgo-rider (serial) or sim (no hardware).")
      Key("i2c_bus", \.i2cBus, in: 0...255, "Number N of /dev/i2c-N.")
      Key(
        "i2c_address", \.givenI2CAddress, in: 0x08...0x77,
        "The board's I2C address. Unless given: 0x16, or 0x2B for raspbot-v2."
      ).found(
        by: .i2cChip("YB-Pcb-Car motor board", at: 0x16...0x16, bus: "motors.i2c_bus"),
        .i2cChip("Raspbot V2 motor board", at: 0x2B...0x2B, bus: "motors.i2c_bus"))
      Key("serial_device", \.serialDevice, "The xgo-rider's serial device, 115200 8N1.").found(by: .serialLine)
      Key("invert_left", \.invertLeft, "The left motor is wired the other way round.")
      Key("invert_right", \.invertRight, "The right motor is wired the other way round.")
      Key("max_duty", \.maxDuty, in: 1...255, "Board value of 100 %.")
      Key(
        "min_duty", \.minDuty, in: 0...255,
        "Smallest board value of a turning wheel: gear motors stall below about 30.")
      Key(
        "legacy_register", \.legacyRegister,
        "Write speeds to register 0x00 in percent as the original script did, instead of the board's register 0x01.")
      Key(
        "wheel_base_m", \.wheelBase, in: RobotGeometry.wheelBases, unit: .metres,
        "Distance between the middles of the wheels in metres; with top_speed_m_per_s the robot drives in m/s and rad/s, too."
      )
      Key(
        "top_speed_m_per_s", \.topSpeed, in: RobotGeometry.topSpeeds, unit: Unit("m/s"),
        "Speed of a wheel over the ground at 100 %, in metres per second.")
      Key(
        "stop_within_mm", \.stopWithin, in: RobotSettings.stopDistances, unit: .millimetres,
        "Something nearer ahead than this ends forward motion, as does a distance that is not known; only the raspbot-v2 measures it."
      )
      Key(
        "battery_low_percent", \.batteryLow, in: RobotSettings.batteryCharges, unit: .percent,
        "Charge of the battery at which it is told to be low; only the xgo-rider says how its battery is.")
      Key(
        "battery_stop_percent", \.batteryStop, in: RobotSettings.batteryCharges, unit: .percent,
        "Charge of the battery at which the robot slows down and drives no more until it is charged; only the xgo-rider."
      )
      Key(
        "tilt_stop_deg", \.tiltStop, in: RobotSettings.tilts, unit: .degrees,
        "Roll or pitch beyond which, for 200 ms, the motors stop until a reset; an xgo-rider or an accelerometer says how the robot leans."
      )
      Key(
        "accelerometer", \.accelerometer,
        "Accelerometer of the kernel (IIO) that says how the robot leans, without its axis: iio:mpu6050/accel for accel_x, accel_y and accel_z."
      ).found(by: .kernelAxes(.metresPerSecondSquared))
      Key(
        "gyroscope", \.gyroscope,
        "Gyroscope beside the accelerometer, mounted the same way: iio:mpu6050/anglvel. With it a push counts less as a tilt."
      ).found(by: .kernelAxes(.radiansPerSecond))
      Key("inertial_forward", \.inertialForward, "Axis of the accelerometer's chip that points forwards.")
      Key("inertial_up", \.inertialUp, "Axis of the accelerometer's chip that points up.")
      Key(
        "pan_min_deg", \.panMin, in: CameraMountSettings.angles, unit: .degrees,
        "Smallest angle of the camera mount's pan servo. Unless given: 0. Only yb-pcb-car and raspbot-v2 turn a mount.")
      Key(
        "pan_max_deg", \.panMax, in: CameraMountSettings.angles, unit: .degrees,
        "Greatest angle of the pan servo. Unless given: 180.")
      Key(
        "tilt_min_deg", \.tiltMin, in: CameraMountSettings.angles, unit: .degrees,
        "Smallest angle of the camera mount's tilt servo. Unless given: 0.")
      Key(
        "tilt_max_deg", \.tiltMax, in: CameraMountSettings.angles, unit: .degrees,
        "Greatest angle of the tilt servo. Unless given: 180, or 100 for raspbot-v2, which takes at most 110.")
      Key(
        "pan_tilt_deg_per_s", \.mountRate, in: CameraMountSettings.rates, unit: Unit("°/s"),
        "How fast the camera mount turns, in degrees per second. Unless given: 180.")
      Key(
        "invert_pan", \.invertPan,
        "The pan servo is mounted the other way round: its angle is mirrored within its limits.")
      Key(
        "invert_tilt", \.invertTilt,
        "The tilt servo is mounted the other way round: its angle is mirrored within its limits.")
      Key("line_sensor", \.lineSensor, "The line sensor is read; only the raspbot-v2 has one.")
      Key(
        "rosbridge", \.rosbridge,
        "Clients of ROS drive and read the robot by rosbridge's JSON on the WebSocket /rosbridge of the service.")
      Key("runtime.robot.rate_hz", \.rateHertz, in: 5...1000, "Ticks per second of the motors' loop, in hertz.")
    }

    var address: I2CAddress {
      guard let address = I2CAddress(givenI2CAddress ?? (backend == .raspbotV2 ? 0x2B : 0x16)) else {
        preconditionFailure("the table allows 0x08…0x77 only")
      }
      return address
    }

    var ybPcbCar: YBPcbCar { YBPcbCar(address: address, dutyScale: dutyScale, legacyRegister: legacyRegister) }
    var raspbotV2: RaspbotV2 { RaspbotV2(address: address, dutyScale: dutyScale) }
    private var dutyScale: DutyScale { DutyScale(maxDuty: maxDuty, minDuty: minDuty) }

    /// The measures that convert SI units, or `nil` unless the file gives both keys, whose ranges are those of a geometry.
    var geometry: RobotGeometry? {
      guard let wheelBase, let topSpeed else { return nil }
      return try? RobotGeometry(wheelBaseMetres: wheelBase, topSpeedMetresPerSecond: topSpeed)
    }

    /// The orientation in which the chip of the inertial sensors is mounted, or `nil` if the two axes that the file gives lie on one line.
    var mounting: Mounting? { Mounting(forward: inertialForward, up: inertialUp) }

    /// The inertial sensors that a scenario simulates, or `nil` if the file names no accelerometer.
    var simulatedInertial: RobotSimulation.Inertial? {
      accelerometer.map { _ in gyroscope == nil ? .accelerometer : .both }
    }

    /// The limits of the camera mount. `check` guarantees that they are valid.
    var mount: CameraMountSettings {
      let standard = CameraMountSettings.standard(robotBoard)
      return CameraMountSettings(
        pan: .init(
          lowest: panMin ?? standard.pan.lowest, highest: panMax ?? standard.pan.highest, isInverted: invertPan),
        tilt: .init(
          lowest: tiltMin ?? standard.tilt.lowest, highest: tiltMax ?? standard.tilt.highest, isInverted: invertTilt),
        degreesPerSecond: mountRate ?? standard.degreesPerSecond)
    }

    /// The board; `sim` is a simulated YB_Pcb_Car.
    var robotBoard: RobotBoard {
      switch backend {
      case .ybPcbCar, .sim: .ybPcbCar
      case .raspbotV2: .raspbotV2
      case .xgoRider: .xgoRider
      }
    }

    /// The board and its address in words, for messages to people.
    var board: String {
      switch backend {
      case .ybPcbCar, .raspbotV2: "\(backend.rawValue) at 0x\(String(address.value, radix: 16)) on /dev/i2c-\(i2cBus)"
      case .xgoRider: "xgo-rider on \(serialDevice)"
      case .sim: "simulated board"
      }
    }
  }

  /// The limits for driving the robot.
  public struct Rules: Settings {
    /// The speed limit of a wheel, in percent of full speed.
    var speedLimit = 100.0
    /// The acceleration setting, 0…100; 0 disables the ramp.
    var acceleration = 50.0
    var commandTimeoutSeconds = 1.0
    var isSafeMode = false
    var safeModeSpeedLimit = 50.0

    public init() {}

    /// Creates the rules of a robot that is not in safe mode, from the values of the configuration keys.
    public init(speedLimit: Double = 100, acceleration: Double = 50, commandTimeoutSeconds: Double = 1) {
      (self.speedLimit, self.acceleration) = (speedLimit, acceleration)
      self.commandTimeoutSeconds = commandTimeoutSeconds
    }

    public static var keys: [Key<Rules>] {
      Key(
        "speed_limit", \.speedLimit, in: 0...100, limit: .upper,
        "Fastest wheel speed accepted, in percent of full speed.")
      Key(
        "acceleration", \.acceleration, in: 0...100, limit: .upperOrZero,
        "Ramp: speed rises by 4 × this many percent per second (50: from 0 to 100 in half a second); 0 means no ramp.")
      Key(
        "command_timeout", \.commandTimeoutSeconds, in: 0.1...10, limit: .upper,
        "Seconds without a valid newer command after which the motors stop.")
      Key(
        "safety.safe_mode", \.isSafeMode, limit: .lower,
        "The robot drives no faster than safety.safe_mode_speed_limit, whatever motors.speed_limit says.")
      Key(
        "safety.safe_mode_speed_limit", \.safeModeSpeedLimit, in: 0...100, limit: .upper,
        "Fastest wheel speed in the safe mode, in percent of full speed.")
    }

    /// The speed limit in effect: the lower of the configured limit and, in safe mode, that of the safe mode.
    var speedLimitPercent: Double { isSafeMode ? min(speedLimit, safeModeSpeedLimit) : speedLimit }
  }

  public static func check(_ wiring: Wiring, _ rules: Rules, _ report: Contradictions<Robot>) {
    if wiring.minDuty > wiring.maxDuty {
      report(
        \.minDuty, "expected at most \(report.setting(\.maxDuty, wiring.maxDuty)), got \(wiring.minDuty)",
        or: \.maxDuty, "expected at least \(report.setting(\.minDuty, wiring.minDuty)), got \(wiring.maxDuty)")
    }
    if (wiring.wheelBase == nil) != (wiring.topSpeed == nil) {
      let both = "expected motors.wheel_base_m and motors.top_speed_m_per_s together, got one of them"
      report(wiring.wheelBase == nil ? \.topSpeed : \.wheelBase, both)
    }
    if wiring.stopWithin != nil, wiring.backend != .raspbotV2 {
      report(
        \.stopWithin,
        "expected motors.backend raspbot-v2, the board that measures the distance ahead, got \(wiring.backend.rawValue)"
      )
    }
    func needsRider(_ key: KeyPath<Wiring, Int?> & Sendable, _ what: String) {
      guard wiring[keyPath: key] != nil, wiring.backend != .xgoRider else { return }
      report(key, "expected motors.backend xgo-rider, the board that \(what), got \(wiring.backend.rawValue)")
    }
    checkMount(wiring, report)
    if wiring.lineSensor, wiring.backend != .raspbotV2 {
      report(
        \.lineSensor,
        "expected motors.backend raspbot-v2, the board that has a line sensor, got \(wiring.backend.rawValue)")
    }
    needsRider(\.batteryLow, "says how its battery is")
    needsRider(\.batteryStop, "says how its battery is")
    if wiring.accelerometer == nil {
      if wiring.tiltStop != nil, wiring.backend != .xgoRider {
        report(
          \.tiltStop,
          "expected motors.accelerometer, or motors.backend xgo-rider, which says how it leans; got \(wiring.backend.rawValue)"
        )
      }
      if wiring.gyroscope != nil { report(\.gyroscope, "expected motors.accelerometer beside it, got none") }
    } else if wiring.backend == .xgoRider {
      report(\.accelerometer, "expected none with motors.backend xgo-rider, which says itself how it leans")
    }
    if wiring.mounting == nil {
      report(
        \.inertialUp,
        "expected another line than \(wiring.inertialForward.rawValue) of motors.inertial_forward, got \(wiring.inertialUp.rawValue)"
      )
    }
    if let low = wiring.batteryLow, let stop = wiring.batteryStop, stop > low {
      report(
        \.batteryStop, "expected at most \(report.setting(\.batteryLow, low)), got \(stop)", or: \.batteryLow,
        "expected at least \(report.setting(\.batteryStop, stop)), got \(low)")
    }
    let rate = Double(wiring.rateHertz)
    if rules.commandTimeoutSeconds * rate < 2 {
      report(
        \.commandTimeoutSeconds,
        "expected at least two periods of runtime.robot.rate_hz (\(2 / rate) s), got \(rules.commandTimeoutSeconds)")
    }
  }

  /// Reports limits of a camera mount that the board does not have, that contradict each other, or that are beyond the board's own.
  private static func checkMount(_ wiring: Wiring, _ report: Contradictions<Robot>) {
    let given: [(PartialKeyPath<Wiring>, Bool)] = [
      (\.panMin, wiring.panMin != nil), (\.panMax, wiring.panMax != nil), (\.tiltMin, wiring.tiltMin != nil),
      (\.tiltMax, wiring.tiltMax != nil), (\.mountRate, wiring.mountRate != nil), (\.invertPan, wiring.invertPan),
      (\.invertTilt, wiring.invertTilt),
    ]
    if !wiring.robotBoard.can(.panTilt), let (key, _) = given.first(where: { $0.1 }) {
      report(
        key,
        "expected motors.backend yb-pcb-car or raspbot-v2, the boards that turn a camera mount, got \(wiring.backend.rawValue)"
      )
      return
    }
    let standard = CameraMountSettings.standard(wiring.robotBoard)
    func checkOrder(
      _ low: KeyPath<Wiring, Int?> & Sendable, _ high: KeyPath<Wiring, Int?> & Sendable,
      _ limits: CameraMountSettings.Limits
    ) {
      let (least, most) = (wiring[keyPath: low] ?? limits.lowest, wiring[keyPath: high] ?? limits.highest)
      guard least >= most else { return }
      report(
        low, "expected less than \(report.setting(high, most)), got \(least)", or: high,
        "expected more than \(report.setting(low, least)), got \(most)")
    }
    checkOrder(\.panMin, \.panMax, standard.pan)
    checkOrder(\.tiltMin, \.tiltMax, standard.tilt)
    if wiring.backend == .raspbotV2, let most = wiring.tiltMax, most > 110 {
      report(\.tiltMax, "expected at most 110, which a raspbot-v2 takes, got \(most)")
    }
  }

  /// Returns the settings of the loop. The ranges of the keys and `check` guarantee that they are valid.
  public static func loopRules(_ wiring: Wiring, _ rules: Rules) -> LoopRules {
    do {
      return try RobotSettings(
        failsafeTimeout: .seconds(rules.commandTimeoutSeconds), speedLimit: Percent(rules.speedLimitPercent),
        acceleration: rules.acceleration, tickPeriod: Rate.hertz(Double(wiring.rateHertz)).period,
        geometry: wiring.geometry, stopWithinMillimetres: wiring.stopWithin, batteryStopPercent: wiring.batteryStop,
        tiltStopDegrees: wiring.tiltStop)
    } catch {
      preconditionFailure("the configuration accepted invalid settings of the robot: \(error)")
    }
  }
}
