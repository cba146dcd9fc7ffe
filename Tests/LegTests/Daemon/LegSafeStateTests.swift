import Buses
import Testing

@testable import TactusDaemon

@Suite("safe-state plan of the legs")
struct LegSafeStateTests {
  @Test("pca9685: every channel off by one byte, after the motors' writes")
  func legs() throws {
    func plan(_ text: String) throws -> [String] {
      let configuration = try Configuration.read(YAMLFile(text: text, name: "c.yaml"), environment: [:])
      return SafeStatePlan.writes(for: configuration).map(\.description)
    }
    #expect(try plan("leg: { i2c_bus: 3, i2c_address: 0x41 }") == ["i2c-byte:41:fd:10:/dev/i2c-3"])
    #expect(try plan("legs: [{}, {}]") == ["i2c-byte:40:fd:10:/dev/i2c-1"])
    #expect(
      try plan("leg: { chips: [{}, { i2c_address: 0x44 }, {}] }") == [
        "i2c-byte:40:fd:10:/dev/i2c-1", "i2c-byte:44:fd:10:/dev/i2c-1", "i2c-byte:42:fd:10:/dev/i2c-1",
      ], "every chip")
    #expect(try plan("leg: { backend: sim }") == [])
    #expect(
      try plan("motors: { backend: yb-pcb-car }\nleg:\n")
        == ["i2c-byte:16:02:00:/dev/i2c-1", "i2c-block:16:01:01000100:/dev/i2c-1", "i2c-byte:40:fd:10:/dev/i2c-1"])
  }

  @Test("output-enable line: inactive, before whatever needs a bus; not of a simulated chip")
  func lines() throws {
    func lines(_ text: String) throws -> [GPIOLine] {
      SafeStatePlan.lines(of: try Configuration.read(YAMLFile(text: text, name: "c.yaml"), environment: [:]))
    }
    #expect(try lines("leg: { output_enable: 22 }") == [GPIOLine(.bcm(22), isActiveLow: true)])
    #expect(try lines("leg: { output_enable: 22, chips: [{}, {}] }") == [GPIOLine(.bcm(22), isActiveLow: true)])
    #expect(
      try lines("leg: { chips: [{ output_enable: 22 }, {}, { output_enable: 23 }] }")
        == [GPIOLine(.bcm(22), isActiveLow: true), GPIOLine(.bcm(23), isActiveLow: true)])
    #expect(try lines("leg: { backend: sim, output_enable: 22 }") == [])
    #expect(try lines("leg:\n") == [])
  }
}
