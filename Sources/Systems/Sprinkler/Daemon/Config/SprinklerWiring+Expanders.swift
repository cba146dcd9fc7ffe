import Buses
import Devices
import TactusDaemon

extension SprinklerWiring {
  enum ExpanderChip: String, Word {
    case mcp23017
    case pcf8574
    case shiftRegister = "74hc595"
  }

  /// An item of `sprinkler.expanders`.
  struct Expander: Settings, Equatable {
    var chip = ExpanderChip.mcp23017
    var firstPin = 100
    /// The I2C address, or `nil` for 0x20.
    var givenAddress: UInt8?
    /// The number of outputs of a chain of 74HC595, or `nil` for 8.
    var givenLines: Int?
    var data, clock, latch, outputEnable: Int?

    @DeclarationBuilder<Key<Self>> static var keys: [Key<Self>] {
      Key(
        "chip", \.chip,
        "mcp23017 (16 lines on I2C), pcf8574 (8 lines on I2C, active-low), or 74hc595 (shift registers, as on OpenSprinkler's boards)."
      )
      Key(
        "first_pin", \.firstPin, in: 64...1016,
        "The pin number of its first line; the others follow. 100 makes the lines of an MCP23017 pins 100…115. Always given."
      )
      Key(
        "address", \.givenAddress, in: 0x20...0x3F,
        "The I2C address of a mcp23017 (0x20…0x27) or pcf8574 (0x20…0x27, 0x38…0x3F), on sprinkler.i2c_bus. Unless given: 0x20."
      )
      Key("lines", \.givenLines, in: 8...64, "Outputs of a chain of 74hc595, 8 a chip. Unless given: 8.").checked {
        guard let lines = $0.givenLines, lines % 8 != 0 else { return nil }
        return "expected a multiple of 8, got \(lines)"
      }
      Key("data", \.data, in: 0...1023, "The pin of a 74hc595's data line. Unless given: 27.")
      Key("clock", \.clock, in: 0...1023, "The pin of a 74hc595's clock line. Unless given: 4.")
      Key("latch", \.latch, in: 0...1023, "The pin of a 74hc595's latch line. Unless given: 22.")
      Key(
        "output_enable", \.outputEnable, in: 0...1023,
        "The pin of a 74hc595's output-enable line, by which the guard turns all of its outputs off. Unless given: 17.")
    }

    /// The number of the expander's lines.
    var lineCount: Int {
      switch chip {
      case .mcp23017: MCP23017.pinCount
      case .pcf8574: PCF8574.pinCount
      case .shiftRegister: givenLines ?? 8
      }
    }
    /// The pin numbers of the expander's lines.
    var pins: Range<Int> { firstPin..<firstPin + lineCount }
    /// The I2C address, or `nil` for shift registers.
    var address: UInt8? { chip == .shiftRegister ? nil : givenAddress ?? 0x20 }
    /// The pins of a chain's data, clock, latch and output-enable line, each with its key; empty for a chip on I2C.
    var chainPins: [(pin: Int, key: String)] {
      guard chip == .shiftRegister else { return [] }
      return [
        (data ?? 27, "data"), (clock ?? 4, "clock"), (latch ?? 22, "latch"), (outputEnable ?? 17, "output_enable"),
      ]
    }
    /// The addresses that an expander of this kind can have.
    var addresses: [ClosedRange<UInt8>] {
      switch chip {
      case .mcp23017: [0x20...0x27]
      case .pcf8574: [0x20...0x27, 0x38...0x3F]
      case .shiftRegister: []
      }
    }
  }
}

/// The lines of one expander that the sprinkler uses.
struct UsedExpander {
  let index: Int
  let expander: SprinklerWiring.Expander
  /// The lines in use, each with its place among all of the sprinkler's lines.
  let used: [(line: Int, place: Int)]
  /// The lines that are active at the low level, in use or not.
  let activeLow: UInt64

  /// Returns the path of a key of the expander in the file.
  func path(_ key: String) -> String { "sprinkler.expanders[\(index)].\(key)" }

  /// The chip on I2C, or `nil` for shift registers.
  var chip: LineExpander? {
    guard let address = expander.address.flatMap({ I2CAddress($0) }) else { return nil }
    switch expander.chip {
    case .mcp23017:
      let outputs: UInt16 = used.reduce(0) { $0 | 1 << UInt16(clamping: $1.line) }
      return .mcp23017(
        MCP23017(address: address, outputs: outputs, activeLow: UInt16(truncatingIfNeeded: activeLow) & outputs))
    case .pcf8574: return .pcf8574(PCF8574(address: address))
    case .shiftRegister: return nil
    }
  }
}

extension SprinklerWiring {
  /// Returns the expander that has a pin, or `nil` if the pin is a GPIO line.
  func expander(of pin: Int) -> Int? { expanders.firstIndex { $0.pins.contains(pin) } }

  /// The expanders of which a line is used, in their order.
  var usedExpanders: [UsedExpander] {
    expanders.enumerated().compactMap { index, expander in
      let used = allPins.enumerated().filter { expander.pins.contains($1) }
      guard !used.isEmpty else { return nil }
      let activeLow: UInt64 = expander.pins.enumerated().reduce(0) {
        isActiveLow($1.element) ? $0 | 1 << UInt64(clamping: $1.offset) : $0
      }
      return UsedExpander(
        index: index, expander: expander, used: used.map { ($1 - expander.pins.lowerBound, $0) }, activeLow: activeLow)
    }
  }

  /// The places of the GPIO lines among all of the sprinkler's lines.
  var headerPlaces: [Int] { allPins.indices.filter { expander(of: allPins[$0]) == nil } }

  /// The pin numbers that expanders give, in words; empty without expanders.
  var expanderWords: String {
    expanders.map { "\($0.pins.lowerBound)…\($0.pins.upperBound - 1)" }.joined(separator: ", ")
  }
}
