import TestSupport
import Testing

@testable import PumpDaemon
@testable import TactusDaemon

@Suite("doctor of the pump", .ownThread)
struct PumpDoctorTests {
  @Test("a configured pump: its line, a radio, its PWM unit, each with what to do when it is not there")
  func pump() throws {
    func found(_ section: String, _ files: [String: String] = [:], _ folders: [String: [String]] = [:]) throws
      -> [String]
    {
      let pi = goodPi().changed {
        $0.read = { files[$0] }
        $0.list = { folders[$0] ?? [] }
      }
      let configuration = try Configuration.read(YAMLFile(text: section, name: "c.yaml"), environment: [:])
      let doctor = Doctor(machine: pi, configuration: configuration)
      return (doctor.serialLines() + doctor.radios() + DeclaredKind(Pump.self).diagnoses(doctor)).map {
        "\($0.name) \($0.status): \($0.found)" + ($0.fix == nil ? "" : "!")
      }
    }
    #expect(try found("pump: { backend: sim }") == [])
    #expect(try found("pump: { }") == ["pump.device fail: /dev/ttyUSB0 is not there!"])
    #expect(try found("pump: { }", [:], ["/dev": ["ttyUSB0"]]) == ["pump.device ok: /dev/ttyUSB0 is there"])
    #if Bluetooth
      #expect(try found("pump: { device: 'ble:HM' }") == ["pump.device fail: no Bluetooth adapter!"])
      #expect(
        try found("pump: { role: device, bluetooth: true }", ["/sys/class/pwm/pwmchip0/npwm": "2"])
          == [
            "pump.bluetooth fail: no Bluetooth adapter!", "pump.pwm.channel ok: /sys/class/pwm/pwmchip0/pwm0 is there",
          ])
    #endif
    #expect(
      try found("pump: { role: device, device: /dev/serial0 }")
        == [
          "pump.device fail: /dev/serial0 is not there!",
          "pump.pwm.channel fail: no /sys/class/pwm/pwmchip0!",
        ])
    #expect(
      try found("pump: { role: device, pwm: { channel: 3 } }", ["/sys/class/pwm/pwmchip0/npwm": "2"])
        == ["pump.pwm.channel fail: /sys/class/pwm/pwmchip0 has 2 outputs, from pwm0!"])
  }
}
