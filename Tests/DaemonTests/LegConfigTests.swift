import Testing

@testable import LegDaemon
@testable import TactusDaemon

@Suite("configuration of the legs")
struct LegConfigTests {
  @Test("leg alone, even empty: one leg on channel 0 with LegCtrl's numbers")
  func alone() throws {
    let legs = try #require(try read("leg:\n").legs)
    #expect(legs.backend == .pca9685 && legs.i2cBus == 1 && legs.i2cAddress == 0x40)
    #expect(legs.port == 5010 && legs.rateHertz == 50 && legs.safeStateAfter == 3)
    #expect(legs.legs.count == 1 && legs.legs[0].name == "leg 0")
    let made = legs.configurations[0]
    #expect(made.settings == .standard && made.channel.number == 0)
    #expect(legs.chip == .init())
  }

  @Test("neither section: no leg")
  func none() throws { #expect(try read("motors: { backend: sim }").legs == nil) }

  @Test("a list: each leg its own numbers, the rest from the table; an empty item is a leg on its place's channel")
  func list() throws {
    let legs = try #require(
      try read(
        """
        legs:
          - { name: "${NAME}", channel: 4, min_us: 1600, max_us: 2000, invert: yes, slew_us_per_s: 500 }
          -
          - { release_after_s: 2.5 }
        """, environment: ["NAME": "knee"]
      ).legs)
    #expect(legs.legs.map(\.name) == ["knee", "leg 1", "leg 2"])
    let made = legs.configurations
    #expect(made.map(\.channel.number) == [4, 1, 2])
    #expect(made[0].channel.isInverted && made[0].channel.centre.microseconds == 1600)
    #expect(made[0].settings.lowest.microseconds == 1600 && made[0].settings.slewMicrosecondsPerSecond == 500)
    #expect(made[2].settings.releaseAfter == .milliseconds(2500))
  }

  @Test(
    "a wrong list or item: an error at its place",
    arguments: [
      ("legs:\n", "c.yaml:1:6: legs: expected a list of 1…16 mappings, got nothing"),
      ("legs: []\n", "c.yaml:1:7: legs: expected a list of 1…16 mappings, got []"),
      ("legs: { channel: 1 }\n", "c.yaml:1:7: legs: expected a list of 1…16 mappings, got a mapping"),
      ("legs: [3]\n", "c.yaml:1:8: legs[0]: expected a mapping of keys, got 3"),
      (
        "legs:\n  - {}\n  - chanel: 2\n",
        "c.yaml:3:5: legs[1].chanel: expected a known key (channel?), got chanel"
      ),
      ("legs: [{ channel: 16 }]\n", "c.yaml:1:19: legs[0].channel: expected an integer 0…15, got 16"),
      (
        "legs: [{ channel: 1 }, {}]\n",
        "c.yaml:1:19: legs[0].channel: expected one owner of servo channel 1, got two: line 1: legs[1].channel (by default) has it"
      ),
      (
        "legs:\n- name: a\n- name: a\n",
        "c.yaml:3:9: legs[1].name: expected one owner of the name a, got two: line 2: legs[0].name has it"
      ),
      (
        "legs: [{ min_us: 1500, max_us: 1500 }]\n",
        "c.yaml:1:32: legs[0].max_us: expected at least 10 more than legs[0].min_us (1500), got 1500"
      ),
      (
        "legs: [{ min_us: 1500, centre_us: 1499 }]\n",
        "c.yaml:1:35: legs[0].centre_us: expected 1500…2500, min_us to max_us, got 1499"
      ),
      ("leg: { i2c_adress: 64 }\n", "c.yaml:1:8: leg.i2c_adress: expected a known key (i2c_address?), got i2c_adress"),
    ])
  func wrong(text: String, expected: String) { #expect(errors(text) == [expected]) }

  @Test("seventeen legs: one error")
  func tooMany() {
    let list = "legs: [" + Array(repeating: "{}", count: 17).joined(separator: ", ") + "]"
    #expect(errors(list) == ["c.yaml:1:7: legs: expected a list of 1…16 mappings, got 17"])
  }

  @Test(
    "rules over more than one key: the port of the last leg, the chip's rate, the all-call address, the lane's budget")
  func together() {
    #expect(
      errors("network: { leg_udp_port: 65535 }\nlegs: [{}, {}]\n")
        == ["c.yaml:1:26: network.leg_udp_port: expected at most 65534 for 2 legs, got 65535"])
    #expect(errors("leg: { frequency_hz: 24, oscillator_hz: 50000000 }").first?.contains("PWM rate") == true)
    #expect(errors("leg: { i2c_address: 0x70 }").first?.contains("0x70") == true)
    #expect(
      errors("leg:\nruntime: { leg: { rate_hz: 200, scheduling: deadline, budget_us: 5000 } }").first?
        .contains("expected less than the period of 5000 µs") == true)
  }

  @Test("output enable: a line by name, number or chip and offset; anything else is an error at its place")
  func outputEnable() throws {
    #expect(try read("leg: { output_enable: GPIO22 }").legs?.outputEnable == .bcm(22))
    #expect(try read("leg: { output_enable: 22 }").legs?.outputEnable == .bcm(22))
    #expect(try read("leg: { output_enable: 'pinctrl-rp1:22' }").legs?.outputEnable?.description == "pinctrl-rp1:22")
    #expect(try read("leg:\n").legs?.outputEnable == nil)
    #expect(
      errors("leg: { output_enable: 54 }") == [
        "c.yaml:1:23: leg.output_enable: expected a GPIO line: GPIO17, 17, its name, or CHIP:17, got 54"
      ])
    #expect(try read("leg: { output_enable: 22 }").summary[0].contains("output enable on GPIO22, frames on"))
  }

  @Test("output enable on a pin that a bus of the configuration needs: an error that names the bus and its key")
  func headerPins() {
    for line in ["GPIO2", "3", "'pinctrl-bcm2711:2'"] {
      #expect(
        errors("leg: { i2c_address: 0x40, output_enable: \(line) }").first?
          .contains("which I2C bus 1 needs: line 1: leg.i2c_address has it") == true, "\(line)")
    }
    #expect(errors("leg: { i2c_bus: 0, output_enable: 2 }") == [])
    #expect(errors("leg: { i2c_bus: 0, output_enable: 1 }").count == 1)
    #expect(errors("leg: { i2c_bus: 3, output_enable: 3 }") == [])
    let rider = "motors: { backend: xgo-rider, serial_device: /dev/serial0 }\n"
    #expect(
      errors(rider + "leg: { output_enable: 15 }") == [
        "c.yaml:2:23: leg.output_enable: expected a free GPIO line, got GPIO15, which the serial line /dev/serial0 needs: "
          + "line 1: motors.serial_device has it"
      ])
    #expect(errors(rider + "leg: { output_enable: 16 }") == [])
    #expect(errors("leg: { backend: sim, output_enable: 2 }") == [], "what is simulated has its own header")
  }

  @Test("a line under the kernel's console: refused when it is requested, with what to do")
  func console() {
    let pi = "console=serial0,115200 console=tty1 root=/dev/mmcblk0p2"
    #expect(HeaderLines.refusal(of: [.bcm(4), .bcm(14)], commandLine: pi)?.line == .bcm(14))
    #expect(HeaderLines.refusal(of: [.bcm(15)], commandLine: pi)?.description.contains("serial0,115200") == true)
    #expect(HeaderLines.refusal(of: [.bcm(16)], commandLine: pi) == nil)
    #expect(HeaderLines.refusal(of: [.bcm(14)], commandLine: "console=tty1 quiet") == nil)
  }

  @Test("battery: no sensor unless named; limits of its own; the converter's address has one owner")
  func battery() throws {
    #expect(try read("leg: { battery: { warn_mv: 6800 } }").legs?.battery == nil, "no sensor")
    let legs = try #require(
      try read(
        "leg: { battery: { sensor: ads1115, i2c_address: 0x49, channel: 2, divider: 4.2, warn_mv: 6800, fault_mv: 6400 } }"
      )
      .legs)
    let sensor = try #require(legs.battery?.sensor)
    #expect(sensor.converter.address.value == 0x49 && sensor.channel == 2 && sensor.dividerPerMille == 4200)
    #expect(legs.configurations[0].settings.battery == .init(warning: .init(6800), fault: .init(6400)))
    let one = try #require(try read("leg: { battery: { sensor: ads1115, fault_mv: 6400 } }").legs)
    #expect(one.battery?.limits == .init(warning: .init(6400), fault: .init(6400)))
    #expect(try read("leg: { battery: { sensor: ads1115 } }").legs?.battery?.limits == nil)
    #expect(
      errors("leg: { battery: { sensor: ads1115, warn_mv: 6000, fault_mv: 6400 } }").first?
        .hasSuffix("expected at least leg.battery.fault_mv (6400), got 6000") == true)
    #expect(
      errors("leg: { i2c_address: 0x48, battery: { sensor: ads1115 } }").first?.contains("one owner of address 0x48")
        == true)
  }

  @Test("one thing, two owners: an error at the second, or at the one that the file gives, that names the other")
  func claims() {
    #expect(
      errors("motors: { i2c_address: 0x40 }\nleg: { i2c_bus: 1 }\n") == [
        "c.yaml:1:24: motors.i2c_address: expected one owner of address 0x40 on I2C bus 1, got two: "
          + "line 2: leg.i2c_address (by default) has it"
      ])
    #expect(errors("motors: { i2c_address: 0x40 }\nlegs: [{}]\n").first?.hasPrefix("c.yaml:1:24: ") == true)
    #expect(errors("motors: { i2c_address: 0x40 }\nleg: { i2c_bus: 2 }\n") == [])
    #expect(errors("motors: { i2c_address: 0x40 }\nleg: { backend: sim }\n") == [], "what is simulated has its own bus")
    #expect(
      errors("network: { motor_udp_port: 5011 }\nmotors:\nlegs: [{}, {}]\n").first?
        .contains("one owner of UDP port 5011") == true)
    #expect(errors("network: { motor_udp_port: 5011 }\nlegs: [{}, {}]\n") == [], "no motors, no port")
    #expect(errors("network: { motor_udp_port: 0, leg_udp_port: 0 }\nmotors:\nlegs: [{}, {}]\n") == [])
  }
}
