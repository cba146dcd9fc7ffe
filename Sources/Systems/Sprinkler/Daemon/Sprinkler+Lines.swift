import Buses
import Devices
import Tactus
import TactusDaemon

/// The lines of all valves, opened: those of the header, those of expanders, or both. The bench keeps all that they refer to.
enum ValveLines {
  case header(OutputPart)
  case combined(CombinedGPIOLines)

  /// The levels of simulated lines of the header, the master valve's last; none where some valves are on expanders.
  var simulatedLevels: [SimulatedGPIOLevel] { if case .header(let part) = self { part.levels } else { [] } }

  func port() -> GPIOLines {
    switch self {
    case .header(let part): part.port()
    case .combined(let lines): lines.port()
    }
  }
}

/// Keeps a simulated expander's line active while a fault is on.
struct StickingLine: ~Copyable, ControlLoop, NoOutput {
  let pin: SimulatedExpanderPin
  let isActiveLow: Bool
  let fault: FaultSwitch

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    if fault.isOn() { pin.stick(isHigh: !isActiveLow) } else { pin.loosen() }
  }
}

extension Sprinkler {
  /// Opens every line, off. Returns them with the loops of simulated expanders.
  static func openLines(_ bench: Bench<Wiring>) throws -> (lines: ValveLines, twins: [Loop]) {
    let (wiring, places) = (bench.wiring, bench.wiring.headerPlaces)
    let header =
      places.isEmpty ? nil : try bench.outputs(wiring.claimedLines, of: \.givenPins, safe: .inactive)
    let expanders = wiring.usedExpanders
    if let header, expanders.isEmpty { return (.header(header), []) }
    let combined = CombinedGPIOLines(count: wiring.allPins.count)
    bench.keep(combined)
    if let header { combined.add(header.port(), at: places) }
    var twins: [Loop] = []
    for expander in expanders {
      if let chip = expander.chip {
        twins += try open(chip, expander, into: combined, bench)
      } else {
        try openChain(expander, into: combined, bench)
      }
    }
    return (.combined(combined), twins)
  }

  private static func open(
    _ chip: LineExpander, _ expander: UsedExpander, into combined: CombinedGPIOLines, _ bench: Bench<Wiring>
  ) throws -> [Loop] {
    let part = try bench.i2c(
      \.i2cBus, chip: chip.address, safe: .writes { (bus) throws(I2CError) in try chip.turnOff(on: &bus) },
      operations: bench.wiring.expanderOperations, key: expander.path("address"))
    let lines = ExpanderLines(chip, pins: expander.used.map(\.line), on: part.port())
    bench.keep(lines)
    combined.add(lines.port(), at: expander.used.map(\.place))
    guard bench.isSimulated else { return [] }
    let simulator = LineExpanderSimulator(chip, pulledUp: UInt16(truncatingIfNeeded: expander.activeLow))
    part.attach(simulator.chip, at: chip.address)
    let (line, address) = (expander.used[0].line, hex(chip.address.value))
    let fault = bench.fault(
      "expander-\(address)-stuck", "The first line in use of the expander 0x\(address) stays active.")
    return bench.twin("sprinkler.expander-\(address)", every: .period(.milliseconds(100))) {
      StickingLine(
        pin: simulator.pin(line), isActiveLow: expander.activeLow >> UInt64(clamping: line) & 1 == 1, fault: fault)
    }
  }

  private static func openChain(
    _ expander: UsedExpander, into combined: CombinedGPIOLines, _ bench: Bench<Wiring>
  ) throws {
    let wiring = bench.wiring
    let chain = expander.expander.chainPins.map { pin, key in
      (line: GPIOLine(wiring.name(pin), isActiveLow: key == "output_enable"), key: expander.path(key))
    }
    let part = try bench.outputs(chain, of: \.expanders, safe: .inactive)
    let lines = ShiftRegisterLines(
      length: expander.expander.lineCount, activeLow: expander.activeLow, outputs: expander.used.map(\.line),
      on: part.port())
    bench.keep(lines)
    combined.add(lines.port(), at: expander.used.map(\.place))
  }
}

extension SprinklerWiring {
  /// The operations that the expanders need of the bus.
  var expanderOperations: [I2CTransfer.Operation] {
    let chips = Set(usedExpanders.map(\.expander.chip))
    return (chips.contains(.mcp23017) ? [.writeByte, .writeBlock, .readBlock] : [])
      + (chips.contains(.pcf8574) ? [.plainWrite, .plainRead] : [])
  }
}
