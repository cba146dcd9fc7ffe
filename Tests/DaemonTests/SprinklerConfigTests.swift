import Buses
import Sprinkler
import Testing

@testable import SprinklerDaemon
@testable import TactusDaemon

@Suite("configuration of the sprinkler")
struct SprinklerConfigTests {
  @Test("the section alone, even empty: the original's sixteen zones on its pins, one at a time")
  func alone() throws {
    let sprinkler = try #require(try read("sprinkler:\n").sprinkler)
    #expect(sprinkler.zones.map(\.gpioPin) == Configuration.Sprinkler.originalPins && sprinkler.zones.count == 16)
    #expect(sprinkler.zones[15].name == "Zone 16" && sprinkler.maximumOpen == 1)
    #expect(sprinkler.lines.map(\.isActiveLow) == Array(repeating: false, count: 16))
    #expect(sprinkler.lines[0].name == .bcm(12) && sprinkler.irrigation.lineCount == 16)
    #expect(try read("motors: { backend: sim }").sprinkler == nil)
  }

  @Test("relay_board: active-low is every line's; active_low_pins some")
  func polarity() throws {
    let board = try #require(try read("sprinkler: { relay_board: active-low, master: { pin: 18 } }").sprinkler)
    #expect(board.lines.allSatisfy(\.isActiveLow) && board.lines.count == 17)
    #expect(board.irrigation.master?.line == 16 && board.scheduler(.utc).masterPin == 18)
    let mixed = try #require(
      try read("sprinkler: { zones: [{pin: 5}, {pin: 6}], active_low_pins: [6], chip: gpiochip3 }").sprinkler)
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
      ).sprinkler)
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
    let made = try #require(try read("sprinkler: { max_open: 3 }").sprinkler).irrigation
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

  @Test("a zone's longest run alone: the usual run follows where it would be longer")
  func longestAlone() throws {
    let zones = try read("sprinkler: { zones: [{ max_minutes: 2 }, { max_minutes: 30 }, {}] }").sprinkler?.zones
    #expect(zones?.map(\.defaultSeconds) == [120, 600, 600])
    #expect(zones?.map(\.maximumSeconds) == [120, 1800, 7200])
  }

}
