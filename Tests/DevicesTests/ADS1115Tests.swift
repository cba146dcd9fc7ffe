import Buses
import Tactus
import Testing

@testable import Devices

@Suite struct ADS1115Tests {
  private let bus = SimulatedI2CBus()
  private let simulator = ADS1115Simulator()

  init() { bus.attach(simulator.chip, at: ADS1115.standardAddress) }

  private func port(at milliseconds: Int64) -> I2CBus {
    var port = bus.port(attempts: 1)
    port.now = TickInstant(nanoseconds: milliseconds * 1_000_000)
    return port
  }

  @Test("start: single shot, the input against ground, 4.096 V, 128 a second, comparator off", arguments: 0..<4)
  func word(channel: Int) throws {
    var port = port(at: 0)
    try ADS1115().start(channel, on: &port)
    let transaction = try #require(bus.transactions().last)
    #expect(transaction.register == 1 && transaction.bytes.count == 2)
    let word = UInt16(transaction.bytes[0]) << 8 | UInt16(transaction.bytes[1])
    #expect(word == 0xC383 + 0x1000 * UInt16(channel))
  }

  @Test(
    "a measurement: not ready before its time, then the input's voltage to a count", arguments: ADS1115.Range.allCases)
  func measurement(range: ADS1115.Range) throws {
    let converter = ADS1115(range: range, rate: .hertz250)
    simulator.set(2, Microvolts(200_100))
    var port = port(at: 10)
    try converter.start(2, on: &port)
    port.now = TickInstant(nanoseconds: 13 * 1_000_000)
    #expect(try !converter.isReady(2, on: &port))
    #expect(try converter.read(on: &port) == Microvolts(0), "nothing has been converted yet")
    port.now = TickInstant(nanoseconds: 10 * 1_000_000) + converter.conversionTime
    #expect(try converter.isReady(2, on: &port))
    let error = abs(try converter.read(on: &port).count - 200_100)
    #expect(error <= range.fullScaleMicrovolts / 32_768)
  }

  @Test("a twin's tick, which the compiler proves, puts a voltage on its input and on no other")
  func inputOfATick() throws {
    struct Twin: ~Copyable, ControlLoop, NoOutput {
      let input: ADS1115SimulatedInput

      @_noLocks @_noAllocation
      mutating func tick(_ tick: Tick) { input.set(Microvolts(1_234_000)) }
    }
    let input = simulator.input(3)
    let lane = Lane("twin") { Loop("twin", every: .hertz(10)) { Twin(input: input) } }
    let simulation = try Runtime { lane }.simulation()
    simulation.run(for: .milliseconds(50))
    simulation.stop()
    #expect((0..<4).map { simulator.voltage($0).count } == [0, 0, 0, 1_234_000])
  }

  @Test("beyond the range, and below zero: the range's end, and negative")
  func ends() throws {
    var port = port(at: 0)
    for (given, expected) in [(3_000_000, 2_047_937), (-3_000_000, -2_048_000), (-62_500, -62_500)] as [(Int64, Int64)]
    {
      simulator.set(0, Microvolts(given))
      let converter = ADS1115(range: .millivolts2048)
      try converter.start(0, on: &port)
      port.now = port.now + converter.conversionTime
      #expect(try converter.read(on: &port) == Microvolts(expected))
    }
  }

  @Test("without power during a conversion: never ready, so its zero is taken for nobody's voltage")
  func reset() throws {
    simulator.set(0, Microvolts(2_000_000))
    var port = port(at: 0)
    try ADS1115().start(0, on: &port)
    simulator.reset()
    port.now = TickInstant(nanoseconds: 100 * 1_000_000)
    #expect(try !ADS1115().isReady(0, on: &port))
    #expect(try !ADS1115().isReady(1, on: &port))
  }

  @Test("every rate: its period and a tenth", arguments: ADS1115.Rate.allCases)
  func rates(rate: ADS1115.Rate) throws {
    let converter = ADS1115(rate: rate)
    var port = port(at: 0)
    try converter.start(3, on: &port)
    port.now = TickInstant(nanoseconds: 900_000_000 / rate.hertz)
    #expect(try !converter.isReady(3, on: &port))
    port.now = .zero + converter.conversionTime
    #expect(try converter.isReady(3, on: &port))
  }
}
