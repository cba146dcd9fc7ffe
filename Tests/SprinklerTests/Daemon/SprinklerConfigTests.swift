import Buses
import DaemonSupport
import Sprinkler
import Testing

@testable import SprinklerDaemon
@testable import TactusDaemon

@Suite("configuration of the sprinkler")
struct SprinklerConfigTests {
  @Test("the section alone, even empty: the original's sixteen zones on its pins, one at a time")
  func alone() throws {
    let sprinkler = try #require(try read("sprinkler:\n").sprinkler).wiring
    #expect(sprinkler.zones.map(\.gpioPin) == SprinklerWiring.originalPins && sprinkler.zones.count == 16)
    #expect(sprinkler.zones[15].name == "Zone 16" && sprinkler.maximumOpen == 1)
    #expect(sprinkler.lines.map(\.isActiveLow) == Array(repeating: false, count: 16))
    #expect(sprinkler.lines[0].name == .bcm(12) && sprinkler.irrigation.lineCount == 16)
    #expect(try read("motors: { backend: sim }").sprinkler == nil)
  }

  @Test("relay_board: active-low is every line's; active_low_pins some")
  func polarity() throws {
    let board = try #require(try read("sprinkler: { relay_board: active-low, master: { pin: 18 } }").sprinkler).wiring
    #expect(board.lines.allSatisfy(\.isActiveLow) && board.lines.count == 17)
    #expect(board.irrigation.master?.line == 16 && board.scheduler(Sprinkler.Rules(), .utc).masterPin == 18)
    let mixed = try #require(
      try read("sprinkler: { zones: [{pin: 5}, {pin: 6}], active_low_pins: [6], chip: gpiochip3 }").sprinkler
    ).wiring
    #expect(mixed.lines.map(\.isActiveLow) == [false, true])
    #expect(mixed.lines[0].name == GPIOLineName(.offset(5, chip: "gpiochip3")))
  }

  @Test("zones: what each says, in seconds; groups count together")
  func zones() throws {
    let sprinkler = try #require(
      try read(
        """
        sprinkler:
          groups: [{ max_open: 2 }, {}]
          zones:
            - { name: Lawn, pin: 5, default_minutes: 1.5, max_minutes: 30, max_minutes_per_day: 60, group: 1 }
            - { pin: 6, enabled: false, ignores_rain: true, uses_master: false }
        """
      ).sprinkler
    ).wiring
    #expect(
      sprinkler.zones[0]
        == Zone(
          id: ZoneID(1)!, name: "Lawn", gpioPin: 5, defaultSeconds: 90, maximumSeconds: 1800,
          maximumSecondsPerDay: 3600, group: 1))
    #expect(!sprinkler.zones[1].isEnabled && sprinkler.zones[1].ignoresRain && !sprinkler.zones[1].usesMaster)
    #expect(sprinkler.maximumOpen == 4)
    let made = sprinkler.irrigation
    #expect(made.maximumOpenInGroup[0] == 1 && made.maximumOpenInGroup[1] == 2 && made.maximumOpenInGroup[2] == 1)
  }

  @Test("without groups, max_open is for all zones together")
  func maximumOpen() throws {
    let made = try #require(try read("sprinkler: { max_open: 3 }").sprinkler).wiring.irrigation
    #expect(made.maximumOpen == 3 && made.maximumOpenInGroup[0] == 3)
  }

  @Test(
    "what cannot be: an error at its place",
    arguments: [
      (
        "sprinkler: { zones: [{ pin: 2 }] }",
        "c.yaml:1:29: sprinkler.zones[0].pin: expected a pin that is not among sprinkler.denied_pins (2, 3, 14, 15), got 2"
      ),
      (
        "sprinkler: { zones: [{ pin: 5 }, { pin: 5 }] }",
        "c.yaml:1:41: sprinkler.zones[1].pin: expected a pin of its own, got 5, which line 1: sprinkler.zones[0].pin has"
      ),
      (
        "sprinkler: { flow: { pin: 5, no_flow_l_per_min: 3, high_flow_l_per_min: 3 } }",
        "c.yaml:1:73: sprinkler.flow.high_flow_l_per_min: expected more than sprinkler.flow.no_flow_l_per_min (3.0): whatever flows "
          + "would be an alarm, got 3.0"
      ),
      (
        "sprinkler: { pins: [5, 6], zones: [{ pin: 7 }] }",
        "c.yaml:1:43: sprinkler.zones[0].pin: expected one of sprinkler.pins (5, 6), got 7"
      ),
      (
        "sprinkler: { zones: [{ pin: 60 }] }",
        "c.yaml:1:29: sprinkler.zones[0].pin: expected a pin 0…53 of a Raspberry Pi, got 60; other boards need sprinkler.chip"
      ),
      (
        "sprinkler: { time_zone: Europe/Berlim }",
        "c.yaml:1:25: sprinkler.time_zone: expected an IANA time zone (Europe/Berlin?), got Europe/Berlim"
      ),
      (
        "sprinkler: { latitude: 50 }",
        "c.yaml:1:24: sprinkler.latitude: expected sprinkler.longitude with it, got none"
      ),
      (
        "sprinkler: { zones: [{ default_minutes: 3, max_minutes: 2 }] }",
        "c.yaml:1:41: sprinkler.zones[0].default_minutes: expected at most sprinkler.zones[0].max_minutes (2.0), got 3.0"
      ),
      (
        "sprinkler: { zones: [{ group: 1 }] }",
        "c.yaml:1:31: sprinkler.zones[0].group: expected the number of one of the 0 sprinkler.groups, got 1"
      ),
      (
        "sprinkler: { soil: [{ plant: 3 }] }",
        "c.yaml:1:21: sprinkler.soil[0]: expected a section plants, which measures its soil, got none"
      ),
      (
        "sprinkler: { soil: [{ zones: [1], wet_percent: 50 }] }\nplants: { backend: sim }",
        "c.yaml:1:21: sprinkler.soil[0].plant: expected one of plant, topic and pin, got none"
      ),
      (
        "sprinkler: { soil: [{ plant: 3, pin: 23 }] }\nplants: { backend: sim }",
        "c.yaml:1:30: sprinkler.soil[0].plant: expected one of plant, topic and pin, got plant and pin"
      ),
      (
        "sprinkler: { soil: [{ pin: 23, member: moisture }] }",
        "c.yaml:1:21: sprinkler.soil[0].plant: expected a topic with member, scale and offset_percent, got a pin"
      ),
      (
        "sprinkler: { soil: [{ topic: garden/lawn }] }",
        "c.yaml:1:30: sprinkler.soil[0].topic: expected a section mqtt, whose broker has the topic, got none"
      ),
      (
        "sprinkler: { soil: [{ topic: garden/+ }] }",
        "c.yaml:1:30: sprinkler.soil[0].topic: expected a topic of 1…200 bytes without + and #, got garden/+"
      ),
      (
        "sprinkler: { zones: [{ pin: 17 }], soil: [{ pin: 17 }] }",
        "c.yaml:1:50: sprinkler.soil[0].pin: expected a pin of its own, got 17"
      ),
      (
        "sprinkler: { zones: [{ pin: 17 }], soil: [{ pin: 23 }, { pin: 23, wet_when: high }] }",
        "c.yaml:1:63: sprinkler.soil[1].pin: expected the same wet_when and pull in every rule of pin 23, got others"
      ),
      (
        "sprinkler: { soil: [{ plant: 3, zones: [65] }] }\nplants: { backend: sim }",
        "c.yaml:1:41: sprinkler.soil[0].zones: expected different integers 1…64, got 65"
      ),
      (
        "sprinkler: { zones: [{ pin: 17 }], rain_sensor: { pin: 17 } }",
        "c.yaml:1:56: sprinkler.rain_sensor.pin: expected a pin of its own, got 17"
      ),
      (
        "sprinkler: { zones: [{ pin: 17 }], rain_sensor: { pin: 2 } }",
        "c.yaml:1:56: sprinkler.rain_sensor.pin: expected a pin that is not among sprinkler.denied_pins (2, 3, 14, 15), got 2"
      ),
      (
        "sprinkler: { zones: [{ pin: 17 }], expanders: [{ chip: mcp23017, address: 0x20, first_pin: 100 }], rain_sensor: { pin: 101 } }",
        "c.yaml:1:120: sprinkler.rain_sensor.pin: expected a GPIO line, because an expander's lines are outputs, got 101"
      ),
      (
        "sprinkler: { zones: [{ mm_per_hour: 12 }] }",
        "c.yaml:1:37: sprinkler.zones[0].mm_per_hour: expected sprinkler.weather.provider with it, got none"
      ),
      (
        "sprinkler: { zones: [{ crop_factor: 1 }] }",
        "c.yaml:1:22: sprinkler.zones[0].mm_per_hour: expected it with the zone's other keys of the deficit, got none"
      ),
      (
        "sprinkler: { zones: [{ mm_per_hour: 12, max_deficit_mm: 4 }] }",
        "c.yaml:1:22: sprinkler.zones[0].min_deficit_mm: expected at most max_deficit_mm (4.0), got 5.0, its default"
      ),
      (
        "sprinkler: { zones: [{ max_l_per_min: 12 }] }",
        "c.yaml:1:39: sprinkler.zones[0].max_l_per_min: expected sprinkler.flow.pin with it, got none"
      ),
      (
        "sprinkler: { flow: { pin: 7 }, zones: [{ min_l_per_min: 12, max_l_per_min: 12 }] }",
        "c.yaml:1:76: sprinkler.zones[0].max_l_per_min: expected more than min_l_per_min (12.0), got 12.0"
      ),
      (
        "sprinkler: { pins: [5, 5] }",
        "c.yaml:1:24: sprinkler.pins: expected different integers 0…1023, got 5"
      ),
      (
        "sprinkler: { zones: [{ pin: 17 }] }\nleg: { output_enable: GPIO17 }",
        "c.yaml:1:29: sprinkler.zones[0].pin: expected one owner of GPIO line GPIO17, got two: line 2: leg.output_enable has it"
      ),
      (
        "sprinkler: { weather: { provider: open-meteo, url: 'http://10.0.0.1' } }",
        "c.yaml:1:35: sprinkler.weather.provider: expected sprinkler.latitude and sprinkler.longitude, got none"
      ),
    ])
  func wrong(text: String, error: String) { #expect(errors(text).contains(error), "\(errors(text))") }

  @Test("64 pins, and no more: one more is refused, and a master valve's besides them")
  func manyPins() {
    func complaints(_ count: Int, _ more: String = "") -> [String] {
      let pins = (100..<100 + count).map(String.init).joined(separator: ", ")
      return errors("sprinkler: { chip: gpiochip0, zones: [{ pin: 100 }], pins: [\(pins)]\(more) }")
    }
    #expect(complaints(64).isEmpty && complaints(63, ", master: { pin: 17 }").isEmpty)
    #expect(complaints(65).first?.contains("sprinkler.pins: expected a list of at most 64 integers 0…1023") == true)
    #expect(
      complaints(64, ", master: { pin: 17 }").first?.contains(
        "sprinkler.pins: expected at most 64 pins with the master valve's") == true)
  }

  @Test("the rules of deficits: of the zones with a rate, which makes the provider tell past days")
  func deficits() throws {
    let text = """
      sprinkler:
        latitude: 52.5
        longitude: 13.4
        weather: { provider: open-meteo, url: 'http://127.0.0.1:9' }
        deficit_most_percent: 150
        zones: [{}, { mm_per_hour: 12 }, { mm_per_hour: 8, crop_factor: 0.5, max_deficit_mm: 30, min_deficit_mm: 6 }]
      """
    let (wiring, rules) = try #require(try read(text).sprinkler)
    let settings = wiring.scheduler(rules, .utc)
    #expect(
      settings.deficits == [
        ZoneID(2)!: DeficitRule(millimetresPerHour: 12),
        ZoneID(3)!: DeficitRule(
          millimetresPerHour: 8, cropFactor: 0.5, greatestMillimetres: 30, leastMillimetres: 6),
      ])
    #expect(settings.deficitPercent == 150 && wiring.weather(rules, .utc)?.pastDays == 7)
  }

  @Test("the rules of the soil, with what they are unless given")
  func soil() throws {
    let text = """
      sprinkler:
        soil:
          - { plant: 3 }
          - { plant: 4, zones: [1, 2], wet_percent: 55, effect: shorten, shorten_to_percent: 25, delay_minutes: 30 }
          - { plant: 5, effect: stop, valid_minutes: 5 }
      plants: { backend: sim }
      """
    let (wiring, rules) = try #require(try read(text).sprinkler)
    #expect(
      wiring.scheduler(rules, .utc).moisture == [
        MoistureRule(probe: .plant(3), wetPercent: 60, effect: .skip),
        MoistureRule(
          probe: .plant(4), zones: [ZoneID(1)!, ZoneID(2)!], wetPercent: 55, effect: .shorten(percent: 25),
          delaySeconds: 1_800),
        MoistureRule(probe: .plant(5), wetPercent: 60, effect: .stop, validSeconds: 300),
      ])
  }

  @Test(
    "the rain sensor's line and rule; a closed contact is low unless the pull is down",
    arguments: [
      ("pin: 22", true), ("pin: 22, wet_when: open", false), ("pin: 22, pull: down", false),
      ("pin: 22, wet_when: open, pull: down", true),
    ])
  func rainSensor(keys: String, isActiveLow: Bool) throws {
    let text = "sprinkler: { zones: [{}], rain_sensor: { \(keys), delay_minutes: 2, dry_hours: 24 } }"
    let (wiring, rules) = try #require(try read(text).sprinkler)
    #expect(wiring.rainInput?.line == GPIOLine(.bcm(22), isActiveLow: isActiveLow))
    #expect(wiring.scheduler(rules, .utc).rainSensor == RainSensorRule(delaySeconds: 120, drySeconds: 86_400))
    let none = try #require(try read("sprinkler: { zones: [{}] }").sprinkler)
    #expect(none.wiring.rainInput == nil && none.wiring.scheduler(none.rules, .utc).rainSensor == nil)
    #expect(throws: (any Error).self) { try read("sprinkler: { zones: [{}], rain_sensor: { dry_hours: 24 } }") }
  }

  @Test("a zone's longest run alone: the usual run follows where it would be longer")
  func longestAlone() throws {
    let zones = try read("sprinkler: { zones: [{ max_minutes: 2 }, { max_minutes: 30 }, {}] }").sprinkler?.wiring.zones
    #expect(zones?.map(\.defaultSeconds) == [120, 600, 600])
    #expect(zones?.map(\.maximumSeconds) == [120, 1800, 7200])
  }

}
