import DaemonSupport
import Devices
import Foundation
import Plants
import Tactus
import Testing

@testable import PlantsDaemon
@testable import TactusDaemon

@Suite("configuration of the plants")
struct PlantsConfigTests {
  @Test("the section alone, even empty: one seesaw at 0x36, seven plants a user, fifteen messages in 15 s, no watering")
  func alone() throws {
    let (plants, rules) = try #require(try read("plants:\n").settings(of: Plants.self))
    #expect(plants.sensors.map(\.id.text) == ["0x36"] && plants.sensors[0].probe == .seesaw(SeesawSoil()))
    #expect(plants.bookRules == PlantBookRules() && Plants.host(plants, rules) == PlantHostSettings())
    #expect(Plants.links(plants, rules).isEmpty)
    #expect(plants.tiers == PlantHistoryTier.standard && plants.riseDetector == PlantRiseDetector())
    #expect(plants.probeSettings == PlantProbeSettings())
    #expect(try read("motors: { backend: sim }").settings(of: Plants.self) == nil)
  }

  @Test("sensors: names by what they are, converters' inputs, calibrations")
  func sensors() throws {
    let plants = try #require(
      try read(
        """
        plants:
          sensors:
            - { i2c_address: 0x39 }
            - { chip: ads1115, channel: 2 }
            - { name: Ficus, chip: ads1115, i2c_address: 0x49, dry: 2600, wet: 1100 }
            - { chip: mcp3008, channel: 7 }
            - { name: cactus, chip: mcp3008 }
        """
      ).settings(of: Plants.self)
    ).wiring
    #expect(plants.sensors.map(\.id.text) == ["0x39", "0x48.2", "ficus", "spi.7", "cactus"])
    #expect(
      plants.sensors.map(\.probe) == [
        .seesaw(SeesawSoil(address: .init(0x39)!)), .ads1115(ADS1115(), channel: 2),
        .ads1115(ADS1115(address: .init(0x49)!), channel: 0), .mcp3008(channel: 7), .mcp3008(channel: 0),
      ])
    #expect(plants.sensors[2].monitored.calibration == (try PlantCalibration(dry: 2600, wet: 1100)))
    #expect(plants.sensors[1].monitored.calibration == .capacitiveMillivolts)
    #expect(plants.sensors[3].monitored.calibration == .capacitiveCounts)
  }

  @Test("users, limits, spam, quiet, history: what the keys say")
  func rules() throws {
    let (plants, rules) = try #require(
      try read(
        """
        plants:
          plants_per_user: 3
          users: 2
          dry_percent: 30
          hot_celsius: 40
          stale_after_s: 60
          app: { host_name: Host-2, quiet: true, spam_limit: 0 }
          history: { minutes_days: 1, quarters_days: 7, six_hours_days: 365 }
        """
      ).settings(of: Plants.self))
    let host = Plants.host(plants, rules)
    #expect(plants.bookRules.plantsPerUser == 3 && plants.bookRules.users == 2)
    #expect(plants.bookRules.limits == PlantLimits(dryPercent: 30, hotCelsius: 40))
    #expect(host.hostName == "Host-2" && host.legacyQuiet && host.spamLimit == nil)
    #expect(host.staleAfter == .seconds(60))
    #expect(plants.tiers.map(\.keptSeconds) == [86_400, 7 * 86_400, 365 * 86_400])
    #expect(try #require(try read("plants: { app: { enabled: false } }").settings(of: Plants.self)).wiring.app == nil)
  }

  @Test("watering: only what is written down, with its limits; without a sprinkler it is refused")
  func watering() throws {
    let text = "plants: { watering: [{ plant: 3, zone: 2, max_per_day: 1, min_gap_min: 90 }] }\n"
    let (plants, rules) = try #require(try read(text + "sprinkler: { backend: sim }").settings(of: Plants.self))
    #expect(
      Plants.links(plants, rules) == [
        PlantID(3): try PlantWateringSettings(zone: 2, seconds: 60, maximumPerDay: 1, minimumGapSeconds: 5_400)
      ])
    let nothing = try #require(try read("plants: { watering: [{ seconds: 5 }] }").settings(of: Plants.self))
    #expect(Plants.links(nothing.wiring, nothing.rules).isEmpty)
    #expect(
      errors(text) == [
        "c.yaml:1:22: plants.watering[0]: expected a section sprinkler, whose zone can be asked, got none"
      ])
  }

  @Test(
    "what cannot be: the line, the key, what was expected and what came",
    arguments: [
      (
        "plants: { stale_after_s: 15 }",
        "plants.stale_after_s: expected at least two of plants.read_period_s (20), got 15"
      ),
      (
        "plants: { dry_percent: 80, wet_percent: 20 }",
        "plants.wet_percent: expected more than plants.dry_percent (80.0), got 20.0"
      ),
      (
        "plants: { sensors: [{ name: 'a b' }] }",
        "plants.sensors[0].name: expected 1…32 of a–z 0–9 . _ - and no --, got 'a b'"
      ),
      (
        "plants: { sensors: [{ channel: 1 }] }",
        "plants.sensors[0].channel: expected none: a seesaw probe has one input"
      ),
      (
        "plants: { sensors: [{ chip: ads1115, channel: 4 }] }",
        "plants.sensors[0].channel: expected an input 0…3 of an ads1115, got 4"
      ),
      (
        "plants: { sensors: [{ chip: ads1115, i2c_address: 0x36 }] }",
        "plants.sensors[0].i2c_address: expected 0x48…0x4b for an ads1115, got 0x36"
      ),
      (
        "plants: { sensors: [{ chip: mcp3008, i2c_address: 0x36 }] }",
        "plants.sensors[0].i2c_address: expected none: an mcp3008 is at plants.spi_device"
      ),
      ("plants: { sensors: [{ dry: 5 }] }", "plants.sensors[0].wet: expected wet beside dry, got nothing"),
      (
        "plants: { sensors: [{ dry: 5, wet: 5 }] }",
        "plants.sensors[0].wet: expected wet at least 100 counts above dry, got dry 5.0 and wet 5.0 counts: as much as that a "
          + "probe trembles in one and the same soil; hold it in dry soil, then in wet"
      ),
      (
        "plants: { sensors: [{ dry: 2000, wet: 300 }] }",
        "plants.sensors[0].wet: expected wet at least 100 counts above dry, got dry 2000.0 and wet 300.0 counts: a seesaw probe "
          + "counts more in wet soil"
      ),
      ("plants: { samples: 4 }", "plants.samples: expected one of 1, 3, 5, 7, 9, got 4"),
      (
        "plants: { app: { host_name: 'a:b' } }",
        "plants.app.host_name: expected a name without : and ;, other than all, got 'a:b'"
      ),
      (
        "plants: { app: { host_name: all } }",
        "plants.app.host_name: expected a name without : and ;, other than all, got 'all'"
      ),
      (
        "sprinkler: { backend: sim }\nplants: { watering: [{ zone: 1 }] }",
        "plants.watering[0].plant: expected the number of a plant, got nothing"
      ),
      (
        "sprinkler: { backend: sim }\nplants: { watering: [{ plant: 1 }] }",
        "plants.watering[0].zone: expected the number of a sprinkler zone, got nothing"
      ),
      (
        "sprinkler: { backend: sim }\nplants: { watering: [{ plant: 1, zone: 1 }, { plant: 1, zone: 2 }] }",
        "plants.watering[1].plant: expected one link of plant 1, got two: line 2: plants.watering[0].plant has it"
      ),
    ])
  func refusals(text: String, message: String) {
    let errors = errors(text)
    #expect(errors.count == 1 && errors[0].hasSuffix(message), "\(errors)")
  }

  @Test(
    "one pin, address, chip select, input or name for two: refused, naming both lines",
    arguments: [
      // Two systems at one address of one bus.
      (
        "leg: { battery: { sensor: ads1115 } }\nplants:\n  sensors: [{ chip: ads1115 }]",
        "c.yaml:3:13: plants.sensors[0].i2c_address: expected one owner of address 0x48 on I2C bus 1, got "
          + "two: line 1: leg.battery.i2c_address (by default) has it"
      ),
      (
        "motors: { i2c_address: 0x36 }\nplants: { }",
        "c.yaml:1:24: motors.i2c_address: expected one owner of address 0x36 on I2C bus 1, got "
          + "two: line 2: plants.sensors[0].i2c_address (by default) has it"
      ),
      // A zone's pin that SPI, or I2C, needs.
      (
        "sprinkler: { zones: [{ pin: 10 }] }\nplants:\n  sensors:\n    - { chip: mcp3008 }",
        "c.yaml:1:29: sprinkler.zones[0].pin: expected a free GPIO line, got GPIO10, which the SPI bus of "
          + "/dev/spidev0.0 needs: line 2: plants.spi_device (by default) has it"
      ),
      (
        "sprinkler: { zones: [{ pin: 19 }] }\nplants:\n  spi_device: /dev/spidev1.0\n  sensors: [{ chip: mcp3008 }]",
        "c.yaml:1:29: sprinkler.zones[0].pin: expected a free GPIO line, got GPIO19, which the SPI bus of "
          + "/dev/spidev1.0 needs: line 3: plants.spi_device has it"
      ),
      (
        "sprinkler: { denied_pins: [], zones: [{ pin: 2 }] }\nplants: { }",
        "c.yaml:1:46: sprinkler.zones[0].pin: expected a free GPIO line, got GPIO2, which I2C bus 1 needs: "
          + "line 2: plants.sensors[0].i2c_address (by default) has it"
      ),
      // Two probes.
      (
        "plants:\n  sensors:\n    - { i2c_address: 0x37 }\n    - { name: b, i2c_address: 0x37 }",
        "c.yaml:4:31: plants.sensors[1].i2c_address: expected one owner of address 0x37 on I2C bus 1, got "
          + "two: line 3: plants.sensors[0].i2c_address has it"
      ),
      (
        "plants:\n  sensors:\n    - { chip: ads1115 }\n    - { name: b, chip: ads1115, channel: 0 }",
        "c.yaml:4:42: plants.sensors[1].channel: expected one owner of input 0 of the ads1115 at 0x48, got "
          + "two: line 3: plants.sensors[0].channel (by default) has it"
      ),
      (
        "plants:\n  sensors:\n    - { name: A }\n    - { name: a, i2c_address: 0x37 }",
        "c.yaml:4:15: plants.sensors[1].name: expected one owner of the sensor name a, got two: line 3: "
          + "plants.sensors[0].name has it"
      ),
      (
        "plants:\n  backend: sim\n  sensors:\n    - { }\n    - { name: b }",
        "c.yaml:5:7: plants.sensors[1].i2c_address: expected one owner of the simulated chip at 0x36, got "
          + "two: line 4: plants.sensors[0].i2c_address (by default) has it"
      ),
    ])
  func shared(text: String, message: String) {
    #expect(errors(text) == [message])
  }

  @Test("several inputs of one converter, another bus, a simulated system: no conflict")
  func apart() throws {
    #expect(
      errors(
        """
        leg: { battery: { sensor: ads1115 }, i2c_bus: 1 }
        sprinkler: { backend: sim }
        plants:
          i2c_bus: 3
          sensors:
            - { chip: ads1115, channel: 0 }
            - { chip: ads1115, channel: 1 }
            - { chip: mcp3008, channel: 0 }
            - { chip: mcp3008, channel: 1 }
        """) == [])
    #expect(errors("motors: { i2c_address: 0x36 }\nplants: { backend: sim }") == [])
  }

  @Test("the example files are read")
  func examples() throws {
    let pi = try Configuration.read(
      path: repository.appending(path: "config/plants.yaml").path(percentEncoded: false),
      environment: ["MQTT_PASSWORD": "s3cret"])
    let (plants, rules) = try #require(pi.settings(of: Plants.self))
    #expect(plants.sensors.map(\.id.text) == ["0x36", "0x37", "monstera", "ficus"])
    #expect(Plants.links(plants, rules).isEmpty)
    let simulated = try Configuration.read(
      path: repository.appending(path: "config/simulated.yaml").path(percentEncoded: false), environment: [:])
    #expect(simulated.settings(of: Plants.self)?.wiring.sensors.count == 4)
  }
}
