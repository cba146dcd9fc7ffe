import Buses
import Devices
import MQTTMosquitto
import Sprinkler
import Tactus
import TactusDaemon

/// The opened lines of all valves, which are on the header, on expanders, or on both. The bench keeps all objects that the lines refer to.
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

/// Sets the line of a simulated sensor: active while a fault is on.
struct SimulatedContact: ~Copyable, ControlLoop, NoOutput {
  private var driver: SimulatedGPIODriver
  private let isActiveHigh: Bool
  private let fault: FaultSwitch
  private var wasActive = false

  init(_ driver: consuming SimulatedGPIODriver, isActiveHigh: Bool, _ fault: FaultSwitch) {
    self.driver = driver
    self.isActiveHigh = isActiveHigh
    self.fault = fault
    // The line is inactive before the first reading.
    self.driver.set(isHigh: !isActiveHigh, at: .zero)
  }

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    let isActive = fault.isOn()
    guard isActive != wasActive else { return }
    wasActive = isActive
    driver.set(isHigh: isActive == isActiveHigh, at: tick.started)
  }
}

extension Sprinkler {
  /// Opens the rain sensor's line, if there is one. Returns it with the loop of a simulated sensor.
  static func openRainSensor(_ bench: Bench<Wiring>) throws -> (line: InputPart?, twins: [Loop]) {
    guard let input = bench.wiring.rainInput else { return (nil, []) }
    let part = try bench.edges(input, of: \.rainPin)
    guard bench.isSimulated else { return (part, []) }
    let rain = bench.fault("rain", "The rain sensor is wet.")
    return (
      part,
      bench.twin("sprinkler.rain", every: .period(.milliseconds(100))) {
        SimulatedContact(part.driver(), isActiveHigh: !input.line.isActiveLow, rain)
      }
    )
  }
}

/// The lines of comparators in the soil, opened. The bench keeps all that they refer to.
struct SoilLineParts {
  let parts: [InputPart]

  func ports() -> SoilLines {
    var lines = SoilLines()
    for part in parts { lines.add(part.port()) }
    return lines
  }
}

extension Sprinkler {
  /// Opens the lines of the comparators in the soil. Returns them with the loops of simulated ones, each of which is wet while a fault is on.
  static func openSoilLines(_ bench: Bench<Wiring>) throws -> (lines: SoilLineParts, twins: [Loop]) {
    var parts: [InputPart] = []
    var twins: [Loop] = []
    // A configuration with more comparators has been refused, except by a bench that only plans.
    for pin in bench.wiring.soilPins.prefix(SoilLines.most) {
      let input = bench.wiring.soilInput(pin)
      let part = try bench.edges(input, of: \.soilItems)
      parts.append(part)
      guard bench.isSimulated else { continue }
      let wet = bench.fault("soil-\(pin)", "The soil at the comparator on pin \(pin) is wet.")
      twins += bench.twin("sprinkler.soil-\(pin)", every: .period(.milliseconds(100))) {
        SimulatedContact(part.driver(), isActiveHigh: !input.line.isActiveLow, wet)
      }
    }
    return (SoilLineParts(parts: parts), twins)
  }
}

extension Sprinkler: OnBroker {
  public static func filters(_ wiring: Wiring) -> [String] { Set(wiring.soilTopics.map(\.name)).sorted() }

  public static func receive(_ message: MQTTMessage, _ desk: SprinklerDesk, on broker: BrokerLine) {
    desk.soil?.topics.receive(message.payload, on: message.topic, isRetained: message.isRetained, at: desk.now)
  }

  public static func summary(_ wiring: Wiring, hasBroker: Bool) -> [String] {
    let names = filters(wiring)
    return names.isEmpty ? [] : ["sprinkler: soil is read from \(names.joined(separator: ", "))"]
  }
}

/// The simulated flow sensor: each open valve on a line of the header lets 10 l/min through. A master valve does not hold it back.
struct SimulatedFlow: ~Copyable, ControlLoop, NoOutput {
  private static var litresPerMinute: Double {
    @_noLocks @_noAllocation get { 10 }
  }
  private static var burstLitresPerMinute: Double {
    @_noLocks @_noAllocation get { 100 }
  }
  /// The greatest number of edges in one tick. Further edges are lost, as a kernel loses them for a slow reader.
  private static var mostEdges: Int {
    @_noLocks @_noAllocation get { 1_000 }
  }

  private var driver: SimulatedGPIODriver
  private let valves: [SimulatedGPIOLevel]
  private let pulsesPerLitre: Double
  private let isDry: FaultSwitch
  private let isBurst: FaultSwitch
  /// The part of a pulse that is still to come, 0..<1.
  private var rest = 0.0
  private var last: TickInstant?

  init(
    _ driver: consuming SimulatedGPIODriver, valves: [SimulatedGPIOLevel], pulsesPerLitre: Double, isDry: FaultSwitch,
    isBurst: FaultSwitch
  ) {
    self.driver = driver
    self.valves = valves
    self.pulsesPerLitre = pulsesPerLitre
    self.isDry = isDry
    self.isBurst = isBurst
    self.driver.set(isHigh: true, at: .zero)
  }

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    let since = last ?? tick.started
    last = tick.started
    var rate = isBurst.isOn() ? Self.burstLitresPerMinute : 0
    for valve in 0..<valves.count where valves[valve].isActive() { rate += Self.litresPerMinute }
    if isDry.isOn() { rate = 0 }
    rest += rate * pulsesPerLitre * (tick.started - since).inSeconds / 60
    var edges = 0
    while rest >= 1, edges < Self.mostEdges {
      rest -= 1
      edges += 1
      driver.set(isHigh: false, at: tick.started)
      driver.set(isHigh: true, at: tick.started)
    }
    if rest >= 1 { rest = 0 }
  }
}

extension Sprinkler {
  /// Opens the flow sensor's line, if there is one. Returns it with the loop of a simulated sensor.
  static func openFlowSensor(_ bench: Bench<Wiring>, _ valves: ValveLines) throws -> (line: InputPart?, twins: [Loop]) {
    guard let input = bench.wiring.flowInput else { return (nil, []) }
    let part = try bench.edges(input, of: \.flowPin)
    guard bench.isSimulated else { return (part, []) }
    let isDry = bench.fault("no-water", "No water flows, whatever is open.")
    let isBurst = bench.fault("burst", "A burst pipe lets 100 l/min flow.")
    let levels = valves.simulatedLevels.prefix(
      bench.wiring.masterPin == nil ? 64 : max(0, valves.simulatedLevels.count - 1))
    return (
      part,
      bench.twin("sprinkler.flow", every: .period(.milliseconds(100))) {
        SimulatedFlow(
          part.driver(), valves: Array(levels), pulsesPerLitre: bench.wiring.pulsesPerLitre, isDry: isDry,
          isBurst: isBurst)
      }
    )
  }
}
