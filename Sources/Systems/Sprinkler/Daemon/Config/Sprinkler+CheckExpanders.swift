import Buses
import Sprinkler
import TactusDaemon

// Rules of `sprinkler.expanders`.
extension Sprinkler {
  static func checkExpanders(_ wiring: Wiring, _ report: Contradictions<Sprinkler>) {
    for (index, expander) in wiring.expanders.enumerated() {
      checkPins(of: expander, index, wiring, report)
      if expander.chip == .shiftRegister {
        checkChain(expander, index, wiring, report)
      } else {
        checkChip(expander, index, wiring, report)
      }
    }
  }

  private static func checkPins(
    of expander: SprinklerWiring.Expander, _ index: Int, _ wiring: Wiring, _ report: Contradictions<Sprinkler>
  ) {
    let first = expander.firstPin
    if expander.pins.upperBound > 1_024 {
      report(
        \.expanders, index, \.firstPin,
        "expected at most \(1_024 - expander.lineCount) for \(expander.lineCount) lines, got \(first)")
    }
    if let other = wiring.expanders[..<index].first(where: { $0.pins.overlaps(expander.pins) }) {
      report(
        \.expanders, index, \.firstPin,
        "expected pins of its own, got \(first)…\(expander.pins.upperBound - 1), of which another expander has "
          + "\(other.pins.lowerBound)…\(other.pins.upperBound - 1)")
    }
  }

  private static func checkChip(
    _ expander: SprinklerWiring.Expander, _ index: Int, _ wiring: Wiring, _ report: Contradictions<Sprinkler>
  ) {
    let chip = expander.chip.rawValue
    let range = expander.addresses.map { "0x\(hex($0.lowerBound))…0x\(hex($0.upperBound))" }.joined(separator: " or ")
    if let address = expander.address, !expander.addresses.contains(where: { $0.contains(address) }) {
      report(\.expanders, index, \.givenAddress, "expected \(range) of a \(chip), got 0x\(hex(address))")
    }
    for path in [\SprinklerWiring.Expander.givenLines, \.data, \.clock, \.latch, \.outputEnable] {
      guard let value = expander[keyPath: path] else { continue }
      report(\.expanders, index, path, "expected none, because only a 74hc595 has it, got \(value)")
    }
    // Its pins are high from power on, until somebody writes them.
    if expander.chip == .pcf8574,
      let pin = wiring.allPins.first(where: { expander.pins.contains($0) && !wiring.isActiveLow($0) })
    {
      report(
        \.expanders, index, \.chip,
        "expected active-low valves (sprinkler.relay_board or sprinkler.active_low_pins), because the outputs of a pcf8574 are high from "
          + "power on, got pin \(pin), which is active-high")
    }
  }

  private static func checkChain(
    _ expander: SprinklerWiring.Expander, _ index: Int, _ wiring: Wiring, _ report: Contradictions<Sprinkler>
  ) {
    if let address = expander.givenAddress {
      report(
        \.expanders, index, \.givenAddress, "expected none, because a 74hc595 is not on I2C, got 0x\(hex(address))")
    }
    let keys: [PartialKeyPath<SprinklerWiring.Expander>] = [\.data, \.clock, \.latch, \.outputEnable]
    for (key, (pin, _)) in zip(keys, expander.chainPins) {
      if let complaint = complaint(pin, wiring) { report(\.expanders, index, key, complaint) }
      if wiring.expander(of: pin) != nil {
        report(\.expanders, index, key, "expected a GPIO line, got \(pin), which is an expander's")
      }
    }
  }
}
