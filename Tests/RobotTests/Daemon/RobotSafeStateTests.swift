import Testing

@testable import RobotDaemon
@testable import TactusDaemon

@Suite("safe-state plan of the robot")
struct RobotSafeStateTests {
  private func plan(_ motors: String) throws -> [String] {
    let file = try YAMLFile(text: "motors: { \(motors) }", name: "c.yaml")
    let configuration = try Configuration.read(file, environment: [:])
    return try #require(configuration.systems[ConfiguredSystem<Robot>.self]).safeWrites.map(\.description)
  }

  @Test("yb-pcb-car: the stop register, and a run at zero")
  func ybPcbCar() throws {
    #expect(
      try plan("backend: yb-pcb-car, i2c_bus: 3")
        == ["i2c-byte:16:02:00:/dev/i2c-3", "i2c-block:16:01:01000100:/dev/i2c-3"])
  }

  @Test("yb-pcb-car with the original's register: that one too")
  func legacy() throws {
    #expect(
      try plan("legacy_register: true").last == "i2c-block:16:00:01000100:/dev/i2c-1")
  }

  @Test("raspbot-v2: all four motors at zero, and the buzzer, which the board never ends, silent")
  func raspbot() throws {
    #expect(
      try plan("backend: raspbot-v2")
        == (0...3).map { "i2c-block:2b:01:0\($0)0000:/dev/i2c-1" } + ["i2c-block:2b:06:00:/dev/i2c-1"])
  }

  @Test("xgo-rider: speed and turn neutral, twice")
  func rider() throws {
    let neutral = "55000901307f4600aa" + "55000901327f4400aa"
    #expect(try plan("backend: xgo-rider, serial_device: /dev/x") == ["serial:115200:\(neutral)\(neutral):/dev/x"])
  }

  @Test("sim: nothing to stop")
  func simulated() throws {
    #expect(try plan("backend: sim") == [])
  }
}
