import Buses
import Tactus
import Testing

@testable import Devices

@Suite("Thermistor") struct ThermistorTests {
  private let bus = SimulatedI2CBus()
  private let chip = ADS1115Simulator()

  init() { bus.attach(chip.chip, at: ADS1115.standardAddress) }

  private func port() -> I2CBus { bus.port(attempts: 1) }

  /// A tick each millisecond, for so many of them. Returns what the last one gave.
  @discardableResult
  private func run(_ thermistor: inout Thermistor, on bus: inout I2CBus, for milliseconds: Int64) throws -> Double? {
    var last: Double?
    for _ in 0..<milliseconds {
      bus.now = bus.now + .milliseconds(1)
      last = try thermistor.celsius(on: &bus)
    }
    return last
  }

  // MARK: the curve

  /// R/T table of the manufacturer AMWEI for AMF58B-103F3950, 10 kΩ, B(25/50) = 3950 K, in kΩ: how far the beta
  /// equation may be from it, in °C.
  @Test(
    "a real part's table: near the two temperatures of B, and further from it the further away",
    arguments: [
      (-40, 283.3811, 5), (-20, 90.9311, 2.5), (0, 32.5807, 0.65), (10, 20.0003, 0.3), (20, 12.5266, 0.08),
      (25, 10.0000, 1e-9), (30, 8.0338, 0.06), (80, 1.2429, 0.7), (100, 0.6730, 1.4), (125, 0.3402, 2.4),
    ])
  func table(celsius: Double, kiloohms: Double, tolerance: Double) {
    let reading = ThermistorCurve().celsius(ohms: kiloohms * 1_000)
    #expect(abs(reading - celsius) <= tolerance, "\(reading)")
  }

  /// The same of AMWEI's epoxy-coated AMF52-503F3950, 50 kΩ.
  @Test(
    "another part's table: 0, 25, 50 and 100 °C",
    arguments: [(0, 163.126, 0.65), (25, 50.000, 1e-9), (50, 17.941, 0.02), (100, 3.316, 1.9)])
  func otherTable(celsius: Double, kiloohms: Double, tolerance: Double) {
    let reading = ThermistorCurve(nominalOhms: 50_000).celsius(ohms: kiloohms * 1_000)
    #expect(abs(reading - celsius) <= tolerance, "\(reading)")
  }

  /// 10 kΩ · e^(3950 · (1/T − 1/298.15)), computed outside the program.
  @Test(
    "the equation: resistance of 10 kΩ and 3950 K",
    arguments: [(0.0, 33_620.603_7), (25, 10_000), (50, 3_588.182_6), (100, 697.519_8)])
  func equation(celsius: Double, ohms: Double) {
    #expect(abs(ThermistorCurve().ohms(celsius: celsius) / ohms - 1) < 1e-6)
    #expect(abs(ThermistorCurve().celsius(ohms: ohms) - celsius) < 1e-4)
  }

  @Test(
    "a divider at 25 °C halves the supply, and each side turns the other way",
    arguments: ThermistorDivider.Side.allCases)
  func divider(side: ThermistorDivider.Side) {
    let divider = ThermistorDivider(side: side)
    #expect(divider.voltage(celsius: 25) == Microvolts(1_650_000))
    #expect((divider.voltage(celsius: 50).count < 1_650_000) == (side == .ground))
    // 3,588.183 Ω against 10 kΩ at 3.3 V.
    let low: Int64 = 871_419
    let voltage = divider.voltage(celsius: 50).count
    #expect(abs((side == .ground ? voltage : 3_300_000 - voltage) - low) <= 10, "\(voltage)")
    #expect(divider.celsius(Microvolts(0)) == nil && divider.celsius(Microvolts(3_300_000)) == nil)
  }

  // MARK: the driver and its simulator

  @Test(
    "there and back over the whole range: right to half a count and the divider's slope",
    arguments: ThermistorDivider.Side.allCases, [(10_000.0, 3_950.0, 10_000.0), (100_000, 4_267, 47_000)])
  func roundTrip(side: ThermistorDivider.Side, part: (Double, Double, Double)) throws {
    let divider = ThermistorDivider(
      ThermistorCurve(nominalOhms: part.0, betaKelvin: part.1), ohms: part.2, side: side)
    var thermistor = Thermistor(channel: 1, divider: divider)
    var simulator = ThermistorSimulator(chip, channel: 1, divider: divider)
    var port = port()
    for tenths in stride(from: -400, through: 1_250, by: 5) {
      let celsius = Double(tenths) / 10
      simulator.set(celsius: celsius)
      try run(&thermistor, on: &port, for: 20)  // what was being converted
      let reading = try #require(try run(&thermistor, on: &port, for: 20), "\(celsius) °C")
      let slope = abs(divider.voltage(celsius: celsius + 0.5).count - divider.voltage(celsius: celsius - 0.5).count)
      #expect(abs(reading - celsius) <= 128 / Double(slope), "\(celsius) °C: \(reading)")
    }
  }

  @Test("open and shorted: no temperature, and which of the two it is", arguments: ThermistorDivider.Side.allCases)
  func wires(side: ThermistorDivider.Side) throws {
    let divider = ThermistorDivider(side: side)
    var thermistor = Thermistor(channel: 0, divider: divider)
    var simulator = ThermistorSimulator(chip, channel: 0, divider: divider, celsius: 30)
    var port = port()
    try #expect(run(&thermistor, on: &port, for: 20) != nil)
    simulator.inject(.open)
    try #expect(run(&thermistor, on: &port, for: 40) == nil)
    #expect(thermistor.reading == .open)
    simulator.inject(.shorted)
    try #expect(run(&thermistor, on: &port, for: 40) == nil)
    #expect(thermistor.reading == .shorted)
    simulator.set(celsius: 35)
    try #expect(run(&thermistor, on: &port, for: 40) == nil, "a temperature mends no wire")
    simulator.clearFaults()
    let reading = try #require(try run(&thermistor, on: &port, for: 40))
    #expect(abs(reading - 35) < 0.01)
  }

  @Test(
    "the range's ends are inside; half a degree beyond them is a broken wire",
    arguments: ThermistorDivider.Side.allCases)
  func ends(side: ThermistorDivider.Side) throws {
    let divider = ThermistorDivider(side: side)
    var thermistor = Thermistor(channel: 0, divider: divider)
    var simulator = ThermistorSimulator(chip, channel: 0, divider: divider)
    var port = port()
    for (celsius, isOpen, isShorted) in [
      (-40.0, false, false), (125, false, false), (-40.5, true, false), (125.5, false, true),
    ] {
      simulator.set(celsius: celsius)
      try run(&thermistor, on: &port, for: 40)
      #expect((thermistor.reading == .open) == isOpen, "\(celsius) °C: \(thermistor.reading)")
      #expect((thermistor.reading == .shorted) == isShorted, "\(celsius) °C: \(thermistor.reading)")
    }
  }

  @Test("an open wire is found with a supply that is 2 % lower than told", arguments: ThermistorDivider.Side.allCases)
  func lowSupply(side: ThermistorDivider.Side) throws {
    var thermistor = Thermistor(channel: 0, divider: ThermistorDivider(side: side))
    chip.set(0, Microvolts(side == .ground ? 3_234_000 : 0))
    var port = port()
    try #expect(run(&thermistor, on: &port, for: 40) == nil)
    #expect(thermistor.reading == .open)
  }

  @Test("a tick never waits: start in one, nothing while it converts, two transfers when it has ended")
  func ticks() throws {
    var thermistor = Thermistor(channel: 3)
    var port = port()
    var transfers: [Int] = []
    for _ in 0..<12 {
      let before = bus.transactionCount
      port.now = port.now + .milliseconds(1)
      _ = try thermistor.celsius(on: &port)
      transfers.append(Int(bus.transactionCount - before))
    }
    // A conversion takes 7.8 ms, and a tenth of that is waited besides.
    #expect(transfers == [1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0])
    #expect(thermistor.readAt == TickInstant(nanoseconds: 10_000_000))
  }

  @Test("a slow tick: each reads or starts, whatever the time between")
  func slow() throws {
    var thermistor = Thermistor(channel: 0)
    let simulator = ThermistorSimulator(chip, channel: 0, celsius: 42)
    var port = port()
    for _ in 0..<2 {
      port.now = port.now + .milliseconds(100)
      _ = try thermistor.celsius(on: &port)
    }
    let reading = try #require(try thermistor.celsius(on: &port))
    #expect(abs(reading - simulator.celsius) < 0.01)
  }

  @Test("two on one converter take turns: each has its own temperature, some times a second")
  func turns() throws {
    var first = Thermistor(channel: 0)
    var second = Thermistor(channel: 1)
    let one = ThermistorSimulator(chip, channel: 0, celsius: 10)
    let other = ThermistorSimulator(chip, channel: 1, celsius: 60)
    var port = port()
    for _ in 0..<100 {
      port.now = port.now + .milliseconds(5)
      if !second.isConverting { _ = try first.celsius(on: &port) }
      if !first.isConverting { _ = try second.celsius(on: &port) }
    }
    guard case .celsius(let low) = first.reading, case .celsius(let high) = second.reading else {
      Issue.record("\(first.reading), \(second.reading)")
      return
    }
    #expect(abs(low - one.celsius) < 0.01 && abs(high - other.celsius) < 0.01)
    for readAt in [first.readAt, second.readAt] { #expect(port.now - (try #require(readAt)) < .milliseconds(50)) }
    #expect(first.misses == 0 && second.misses == 0)
  }

  @Test("no power during a conversion: its 0 V is no short; measured again")
  func reset() throws {
    var thermistor = Thermistor(channel: 0)
    let simulator = ThermistorSimulator(chip, channel: 0, celsius: 20)
    var port = port()
    try run(&thermistor, on: &port, for: 15)
    #expect(thermistor.isConverting)
    chip.reset()
    let reading = try #require(try run(&thermistor, on: &port, for: 40))
    #expect(abs(reading - simulator.celsius) < 0.01 && thermistor.misses == 1)
  }

  @Test(
    "no answer: the error, then 200 ms of nothing; after a second the old temperature counts no more; it comes back")
  func noAnswer() throws {
    var thermistor = Thermistor(channel: 0)
    let simulator = ThermistorSimulator(chip, channel: 0, celsius: 20)
    var port = port()
    try run(&thermistor, on: &port, for: 20)
    let readAt = try #require(thermistor.readAt)
    bus.inject(.noAcknowledge(address: ADS1115.standardAddress, count: nil))
    var errors: [TickInstant] = []
    var known: TickInstant?
    for _ in 0..<1_500 {
      port.now = port.now + .milliseconds(1)
      do throws(I2CError) {
        if case .some = try thermistor.celsius(on: &port) { known = port.now }
      } catch {
        errors.append(port.now)
      }
    }
    #expect(errors.count == 8)
    #expect(zip(errors, errors.dropFirst()).allSatisfy { $1 - $0 == .milliseconds(200) })
    #expect(try #require(known) == readAt + .seconds(1))
    bus.clearFaults()
    let reading = try #require(try run(&thermistor, on: &port, for: 250))
    #expect(abs(reading - simulator.celsius) < 0.01)
  }
}
