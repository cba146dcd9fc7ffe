import DaemonSupport
import Leg
import Testing

@testable import LegDaemon
@testable import TactusDaemon

@Suite("configuration of the legs")
struct LegConfigTests {
  @Test("leg alone, even empty: one leg on channel 0 with LegCtrl's numbers")
  func alone() throws {
    let legs = try #require(try read("leg:\n").legs)
    let wiring = legs.wiring
    #expect(wiring.backend == .pca9685 && wiring.i2cBus == 1 && wiring.i2cAddress == 0x40)
    #expect(wiring.port == 5010 && wiring.rateHertz == 50 && legs.lane.safeStateAfter == 3)
    #expect(wiring.legs.count == 1 && wiring.name(0) == "leg 0")
    #expect(legs.loopRules[0] == .standard && wiring.servos[0].channel.number == 0)
    #expect(wiring.drivers == [.init()])
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
    #expect((0..<3).map { legs.wiring.name($0) } == ["knee", "leg 1", "leg 2"])
    let (servos, rules) = (legs.wiring.servos, legs.loopRules)
    #expect(servos.map(\.channel.number) == [4, 1, 2])
    #expect(servos[0].channel.isInverted && servos[0].channel.centre.microseconds == 1600)
    #expect(rules[0].lowest.microseconds == 1600 && rules[0].slewMicrosecondsPerSecond == 500)
    #expect(rules[2].releaseAfter == .milliseconds(2500))
  }

  @Test(
    "a wrong list or item: an error at its place",
    arguments: [
      ("legs:\n", "c.yaml:1:6: legs: expected a list of 1…32 mappings, got nothing"),
      ("legs: []\n", "c.yaml:1:7: legs: expected a list of 1…32 mappings, got []"),
      ("legs: { channel: 1 }\n", "c.yaml:1:7: legs: expected a list of 1…32 mappings, got a mapping"),
      ("legs: [3]\n", "c.yaml:1:8: legs[0]: expected a mapping of keys, got 3"),
      (
        "legs:\n  - {}\n  - chanel: 2\n",
        "c.yaml:3:5: legs[1].chanel: expected a known key (channel?), got chanel"
      ),
      (
        "legs: [{ channel: 16 }]\n",
        "c.yaml:1:19: legs[0].channel: expected 0…15, the channels that one chip has (leg.chips), got 16"
      ),
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

  @Test("thirty-three legs: one error")
  func tooMany() {
    let list = "legs: [" + Array(repeating: "{}", count: 33).joined(separator: ", ") + "]"
    #expect(errors(list) == ["c.yaml:1:7: legs: expected a list of 1…32 mappings, got 33"])
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

  @Test("several chips: addresses by their places unless given, channels count on, a line for all or one for each")
  func chips() throws {
    let text =
      "leg: { chips: [{ output_enable: 22 }, { i2c_address: 0x45 }, { output_enable: 23 }] }\nlegs: [{ channel: 1 }, { channel: 47 }]\n"
    let wiring = try #require(try read(text).legs).wiring
    #expect(wiring.drivers.map(\.address.value) == [0x40, 0x45, 0x42])
    #expect(wiring.servos.map(\.chip) == [0, 2] && wiring.servos.map(\.channel.number) == [1, 15])
    #expect(
      wiring.enableLines.ofChips == [0, nil, 1] && wiring.enableLines.lines.map(\.line.name) == [.bcm(22), .bcm(23)])
    #expect(
      try read(text).summary[0].contains("0x40, 0x45, 0x42 on /dev/i2c-1, output enable on GPIO22, GPIO23, frames on"))
    let shared = try #require(try read("leg: { output_enable: 22, chips: [{}, {}] }").legs).wiring
    #expect(shared.enableLines.ofChips == [0, 0] && shared.enableLines.lines.count == 1)
  }

  @Test(
    "several chips: what is wrong is an error at its place",
    arguments: [
      (
        "leg: { i2c_address: 0x41, chips: [{}] }",
        "c.yaml:1:21: leg.i2c_address: expected none beside leg.chips, whose items have addresses, got 0x41"
      ),
      (
        "leg: { output_enable: 22, chips: [{}, { output_enable: 23 }] }",
        "c.yaml:1:56: leg.chips[1].output_enable: expected none beside leg.output_enable, the line that all chips share, got GPIO23"
      ),
      (
        "leg: { chips: [{}, { i2c_address: 0x40 }] }",
        "c.yaml:1:35: leg.chips[1].i2c_address: expected one owner of address 0x40 on I2C bus 1, got two: line 1: leg.chips[0].i2c_address (by default) has it"
      ),
      (
        "leg: { chips: [{}, {}] }\nlegs: [{ channel: 32 }]",
        "c.yaml:2:19: legs[0].channel: expected 0…31, the channels that 2 chips have (leg.chips), got 32"
      ),
      ("leg: { chips: [] }", "c.yaml:1:15: leg.chips: expected a list of 1…8 mappings, got []"),
      (
        "leg: { chips: [{ i2c_address: 0x70 }] }",
        "c.yaml:1:31: leg.chips[0].i2c_address: expected another than 0x70, at which every such chip answers when it is switched on"
      ),
    ])
  func wrongChips(text: String, expected: String) { #expect(errors(text) == [expected]) }

  @Test("groups: legs with the same word belong together, numbered by the first of them")
  func groups() throws {
    let wiring = try #require(try read("legs: [{}, { group: b }, { group: a }, { group: b }]").legs).wiring
    #expect(wiring.servos.map(\.group) == [nil, 1, 2, 1])
  }

  @Test("output enable: a line by name, number or chip and offset; anything else is an error at its place")
  func outputEnable() throws {
    #expect(try read("leg: { output_enable: GPIO22 }").legs?.wiring.outputEnable == .bcm(22))
    #expect(try read("leg: { output_enable: 22 }").legs?.wiring.outputEnable == .bcm(22))
    #expect(
      try read("leg: { output_enable: 'pinctrl-rp1:22' }").legs?.wiring.outputEnable?.description == "pinctrl-rp1:22")
    #expect(try read("leg:\n").legs?.wiring.outputEnable == nil)
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
    #expect(try read("leg: { battery: { warn_mv: 6800 } }").legs?.wiring.battery == nil, "no sensor")
    let legs = try #require(
      try read(
        "leg: { battery: { sensor: ads1115, i2c_address: 0x49, channel: 2, divider: 4.2, warn_mv: 6800, fault_mv: 6400 } }"
      )
      .legs)
    let sensor = try #require(legs.wiring.battery)
    #expect(sensor.converter.address.value == 0x49 && sensor.channel == 2 && sensor.dividerPerMille == 4200)
    #expect(legs.loopRules[0].battery == .init(warning: .init(6800), fault: .init(6400)))
    let one = try #require(try read("leg: { battery: { sensor: ads1115, fault_mv: 6400 } }").legs)
    #expect(one.loopRules[0].battery == .init(warning: .init(6400), fault: .init(6400)))
    #expect(try read("leg: { battery: { sensor: ads1115 } }").legs?.loopRules[0].battery == nil)
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
