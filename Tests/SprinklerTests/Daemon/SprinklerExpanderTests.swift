import Buses
import DaemonSupport
import Sprinkler
import Testing

@testable import SprinklerDaemon
@testable import TactusDaemon

@Suite("zones on line expanders")
struct SprinklerExpanderTests {
  /// A file with zones on each of the pins.
  private static func file(_ keys: String, pins: [Int]) -> String {
    let zones = pins.map { "{ pin: \($0) }" }.joined(separator: ", ")
    return "sprinkler: { \(keys), zones: [\(zones)] }"
  }

  private static func plan(_ text: String) throws -> (writes: [String], lines: [GPIOLine]) {
    let configuration = try read(text)
    return (
      SafeStatePlan.writes(for: configuration).map(\.description), SafeStatePlan.lines(of: configuration)
    )
  }

  @Test("mcp23017: the guard makes its used pins outputs at the inactive level; GPIO lines as ever")
  func mcp23017() throws {
    let (writes, lines) = try Self.plan(
      Self.file(
        "i2c_bus: 3, expanders: [{ chip: mcp23017, first_pin: 100, address: 0x21 }], active_low_pins: [115], master: { pin: 18 }",
        pins: [100, 17, 115]))
    #expect(writes == ["i2c-block:21:12:0080:/dev/i2c-3", "i2c-block:21:00:fe7f:/dev/i2c-3"])
    #expect(lines == [GPIOLine(.bcm(17)), GPIOLine(.bcm(18))])
  }

  @Test("pcf8574: one byte, every pin high")
  func pcf8574() throws {
    let (writes, lines) = try Self.plan(
      Self.file(
        "relay_board: active-low, expanders: [{ chip: pcf8574, first_pin: 100, address: 0x38 }]", pins: [107]))
    #expect(writes == ["i2c-plain:38:ff:/dev/i2c-1"] && lines.isEmpty)
  }

  @Test(
    "74hc595: the guard holds data, clock, latch and the output enable, which it makes high; an OpenSprinkler Pi's unless given"
  )
  func shiftRegister() throws {
    let (writes, lines) = try Self.plan(
      Self.file("expanders: [{ chip: 74hc595, first_pin: 200, lines: 24 }]", pins: [200, 223]))
    #expect(writes.isEmpty)
    #expect(
      lines == [GPIOLine(.bcm(27)), GPIOLine(.bcm(4)), GPIOLine(.bcm(22)), GPIOLine(.bcm(17), isActiveLow: true)])
  }

  @Test("an empty item: an mcp23017 at 0x20, whose pins are 100…115")
  func standard() throws {
    let (writes, _) = try Self.plan(Self.file("expanders: [{}]", pins: [100]))
    #expect(writes == ["i2c-block:20:12:0000:/dev/i2c-1", "i2c-block:20:00:feff:/dev/i2c-1"])
  }

  @Test("64 zones on four chips, in the order of the file")
  func sixtyFour() throws {
    let chips = (0..<4).map { "{ first_pin: \(100 + 16 * $0), address: 0x2\($0) }" }.joined(separator: ", ")
    let wiring = try #require(
      try read(Self.file("expanders: [\(chips)]", pins: Array((100..<164).reversed()))).sprinkler
    ).wiring
    #expect(wiring.zones.count == 64 && wiring.irrigation.lineCount == 64 && wiring.lines.isEmpty)
    #expect(wiring.usedExpanders.map(\.used.count) == [16, 16, 16, 16])
    #expect(wiring.usedExpanders[0].used.first { $0.line == 0 }?.place == 63)
    #expect(wiring.words == "64 zones on mcp23017 0x20, mcp23017 0x21, mcp23017 0x22, mcp23017 0x23")
  }

  @Test(
    "what cannot be: an error at its place",
    arguments: [
      (
        "expanders: [{ first_pin: 100, address: 0x38 }]", [100],
        "expanders[0].address: expected 0x20…0x27 of a mcp23017, got 0x38"
      ),
      (
        "relay_board: active-low, expanders: [{ chip: pcf8574, first_pin: 100, address: 0x28 }]", [100],
        "expanders[0].address: expected 0x20…0x27 or 0x38…0x3f of a pcf8574, got 0x28"
      ),
      (
        "expanders: [{ chip: pcf8574, first_pin: 100, address: 0x20 }]", [100],
        "expanders[0].chip: expected active-low valves (sprinkler.relay_board or sprinkler.active_low_pins), because the outputs of a "
          + "pcf8574 are high from power on, got pin 100, which is active-high"
      ),
      (
        "expanders: [{ first_pin: 100, address: 0x20 }, { first_pin: 115, address: 0x21 }]", [100, 116],
        "expanders[1].first_pin: expected pins of its own, got 115…130, of which another expander has 100…115"
      ),
      (
        "expanders: [{ first_pin: 1010, address: 0x20 }]", [1010],
        "expanders[0].first_pin: expected at most 1008 for 16 lines, got 1010"
      ),
      (
        "expanders: [{ first_pin: 100, address: 0x20 }, { first_pin: 120, address: 0x20 }]", [100, 120],
        "expanders[1].address: expected one owner of"
      ),
      (
        "expanders: [{ first_pin: 100, address: 0x20, latch: 5 }]", [100],
        "expanders[0].latch: expected none, because only a 74hc595 has it, got 5"
      ),
      (
        "expanders: [{ chip: 74hc595, first_pin: 100, address: 0x20 }]", [100],
        "expanders[0].address: expected none, because a 74hc595 is not on I2C, got 0x20"
      ),
      (
        "expanders: [{ chip: 74hc595, first_pin: 100, lines: 12 }]", [100],
        "expanders[0].lines: expected a multiple of 8, got 12"
      ),
      (
        "expanders: [{ chip: 74hc595, first_pin: 100, data: 2 }]", [100],
        "expanders[0].data: expected a pin that is not among sprinkler.denied_pins (2, 3, 14, 15), got 2"
      ),
      (
        "expanders: [{ chip: 74hc595, first_pin: 100, clock: 101 }]", [100],
        "expanders[0].clock: expected a GPIO line, got 101, which is an expander's"
      ),
      (
        "expanders: [{ chip: 74hc595, first_pin: 100 }]", [100, 22], "expected one owner of GPIO line GPIO22"
      ),
      (
        "expanders: [{ first_pin: 100, address: 0x20 }], flow: { pin: 100 }", [101],
        "flow.pin: expected a GPIO line, because an expander's cannot count pulses, got 100"
      ),
      (
        "expanders: [{ first_pin: 100, address: 0x20 }]", [116],
        "zones[0].pin: expected a pin 0…53 of a Raspberry Pi or of sprinkler.expanders (100…115), got 116; other boards need sprinkler.chip"
      ),
    ])
  func wrong(keys: String, pins: [Int], error: String) {
    let found = errors(Self.file(keys, pins: pins))
    #expect(found.contains { $0.contains(error) }, "\(found)")
  }
}
