import Buses
import DaemonSupport
import Robot
import Tactus
import Testing

@testable import RobotDaemon
@testable import TactusDaemon

@Suite("configuration of the robot")
struct RobotConfigTests {
  @Test("an empty motors section: the robot runs with the defaults")
  func emptySection() throws {
    let robot = try #require(try read("motors:\n").systems[ConfiguredSystem<Robot>.self])
    #expect(robot.wiring.backend == .ybPcbCar && robot.wiring.address.value == 0x16)
    #expect(robot.rules.commandTimeoutSeconds == 1 && robot.wiring.port == 5005)
    #expect(robot.lane.scheduling == .fifo(priority: 80))
  }

  @Test("safe mode: no wheel is faster than its limit, nor than the motors' own")
  func safeMode() throws {
    func limit(_ safety: String, motors: Int) throws -> Double? {
      try read("motors: { backend: sim, speed_limit: \(motors) }\nsafety: { \(safety) }").motors?.rules
        .speedLimitPercent
    }
    #expect(try limit("safe_mode_speed_limit: 30", motors: 90) == 90)
    #expect(try limit("safe_mode: true, safe_mode_speed_limit: 30", motors: 90) == 30)
    #expect(try limit("safe_mode: true", motors: 90) == 50)
    #expect(try limit("safe_mode: true, safe_mode_speed_limit: 30", motors: 20) == 20)
  }

  @Test("raspbot-v2 without an address: 0x2B")
  func raspbotAddress() throws {
    #expect(try read("motors: { backend: raspbot-v2 }").motors?.wiring.address.value == 0x2B)
    #expect(try read("motors: { backend: raspbot-v2, i2c_address: 0x30 }").motors?.wiring.address.value == 0x30)
  }

  @Test("wheel base and top speed: both or neither, within their ranges, and the loop has them")
  func geometry() throws {
    let motors = try #require(try read("motors: { wheel_base_m: 0.2, top_speed_m_per_s: 0.5 }").motors)
    let geometry = try #require(Robot.loopRules(motors.wiring, motors.rules).geometry)
    #expect(geometry.wheelBaseMetres == 0.2 && geometry.topSpeedMetresPerSecond == 0.5)
    let none = try #require(try read("motors:\n").motors)
    #expect(Robot.loopRules(none.wiring, none.rules).geometry == nil)
    let both = "expected motors.wheel_base_m and motors.top_speed_m_per_s together, got one of them"
    #expect(errors("motors: { wheel_base_m: 0.2 }") == ["c.yaml:1:25: motors.wheel_base_m: \(both)"])
    #expect(errors("motors: { top_speed_m_per_s: 1 }") == ["c.yaml:1:30: motors.top_speed_m_per_s: \(both)"])
    #expect(
      errors("motors: { wheel_base_m: 0, top_speed_m_per_s: 1e300 }") == [
        "c.yaml:1:25: motors.wheel_base_m: expected a number 0.01…5, got 0",
        "c.yaml:1:47: motors.top_speed_m_per_s: expected a number 0.01…20, got 1e300",
      ])
  }

  @Test("stop within: a raspbot-v2 watches the distance ahead, any other board is an error that names the one that can")
  func stopWithin() throws {
    let motors = try #require(try read("motors: { backend: raspbot-v2, stop_within_mm: 200 }").motors)
    #expect(Robot.loopRules(motors.wiring, motors.rules).stopWithinMillimetres == 200)
    let none = try #require(try read("motors: { backend: raspbot-v2 }").motors)
    #expect(Robot.loopRules(none.wiring, none.rules).stopWithinMillimetres == nil)
    #expect(
      errors("motors: { backend: xgo-rider, stop_within_mm: 200 }") == [
        "c.yaml:1:47: motors.stop_within_mm: expected motors.backend raspbot-v2, the board that measures the distance ahead, got xgo-rider"
      ])
    #expect(
      errors("motors: { backend: raspbot-v2, stop_within_mm: 19 }") == [
        "c.yaml:1:48: motors.stop_within_mm: expected an integer 20…4000, got 19"
      ])
  }

  @Test("camera mount: the board's own limits unless given; limits that contradict, or that no board has, name the key")
  func mount() throws {
    func mount(_ keys: String) throws -> CameraMountSettings? { try read("motors: { \(keys) }").motors?.wiring.mount }
    #expect(try mount("backend: yb-pcb-car") == .standard(.ybPcbCar))
    #expect(try mount("backend: raspbot-v2")?.tilt.highest == 100)
    let given = try mount(
      "backend: raspbot-v2, pan_min_deg: 20, pan_max_deg: 160, tilt_min_deg: 5, tilt_max_deg: 110, pan_tilt_deg_per_s: 60, invert_tilt: true"
    )
    #expect(
      given
        == CameraMountSettings(
          pan: .init(lowest: 20, highest: 160), tilt: .init(lowest: 5, highest: 110, isInverted: true),
          degreesPerSecond: 60))
    for (keys, ending) in [
      (
        "backend: raspbot-v2, tilt_max_deg: 111",
        "tilt_max_deg: expected at most 110, which a raspbot-v2 takes, got 111"
      ),
      ("pan_min_deg: 90, pan_max_deg: 90", "pan_min_deg: expected less than motors.pan_max_deg (90), got 90"),
      (
        "backend: raspbot-v2, tilt_min_deg: 100",
        "tilt_min_deg: expected less than motors.tilt_max_deg (100 unless given), got 100"
      ),
      ("pan_max_deg: 0", "pan_max_deg: expected more than motors.pan_min_deg (0 unless given), got 0"),
      ("pan_tilt_deg_per_s: 4", "pan_tilt_deg_per_s: expected an integer 5…720, got 4"),
      (
        "backend: xgo-rider, invert_pan: true",
        "invert_pan: expected motors.backend yb-pcb-car or raspbot-v2, the boards that turn a camera mount, got xgo-rider"
      ),
      (
        "backend: xgo-rider, line_sensor: true",
        "line_sensor: expected motors.backend raspbot-v2, the board that has a line sensor, got xgo-rider"
      ),
    ] {
      let found = errors("motors: { \(keys) }")
      #expect(found.count == 1 && found.first?.hasSuffix(ending) == true, "\(keys): \(found)")
    }
  }

  @Test("battery and tilt: the xgo-rider says them, any other board is an error that names the one that does")
  func balance() throws {
    let keys = "battery_low_percent: 20, battery_stop_percent: 10, tilt_stop_deg: 45"
    let motors = try #require(try read("motors: { backend: xgo-rider, \(keys) }").motors)
    let rules = Robot.loopRules(motors.wiring, motors.rules)
    #expect(rules.batteryStopPercent == 10 && rules.tiltStopDegrees == 45 && motors.wiring.batteryLow == 20)
    for (key, what) in [
      ("battery_low_percent: 20", "says how its battery is"), ("battery_stop_percent: 10", "says how its battery is"),
    ] {
      let name = key.prefix { $0 != ":" }
      let expected = "motors.\(name): expected motors.backend xgo-rider, the board that \(what), got raspbot-v2"
      let found = errors("motors: { backend: raspbot-v2, \(key) }")
      #expect(found.count == 1 && found.first?.hasSuffix(expected) == true)
    }
    #expect(
      errors("motors: { backend: xgo-rider, battery_low_percent: 10, battery_stop_percent: 20 }").first?
        .contains("battery_stop_percent: expected at most motors.battery_low_percent (10), got 20") == true)
  }

  @Test("inertial sensors: they say how a robot leans whose board does not, mounted as the file says")
  func inertial() throws {
    let keys = "tilt_stop_deg: 45, accelerometer: iio:mpu6050/accel, gyroscope: iio:mpu6050/anglvel"
    let motors = try #require(
      try read("motors: { \(keys), inertial_forward: y, inertial_up: -x }").motors)
    #expect(motors.wiring.mounting == Mounting(forward: .y, up: .minusX))
    #expect(motors.wiring.accelerometer?.description == "iio:mpu6050/accel")
    for (text, error) in [
      (
        "backend: raspbot-v2, tilt_stop_deg: 45",
        "motors.tilt_stop_deg: expected motors.accelerometer, or motors.backend xgo-rider, which says how it leans; got raspbot-v2"
      ),
      ("gyroscope: iio:mpu6050/anglvel", "motors.gyroscope: expected motors.accelerometer beside it, got none"),
      (
        "backend: xgo-rider, accelerometer: iio:mpu6050/accel",
        "motors.accelerometer: expected none with motors.backend xgo-rider, which says itself how it leans"
      ),
      (
        "accelerometer: iio:mpu6050/accel, inertial_forward: x, inertial_up: -x",
        "motors.inertial_up: expected another line than x of motors.inertial_forward, got -x"
      ),
    ] {
      let found = errors("motors: { \(text) }")
      #expect(found.count == 1 && found.first?.hasSuffix(error) == true, "\(found)")
    }
  }
}
