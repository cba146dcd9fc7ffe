import Buses
import Devices
import Tactus
import Testing

@Suite("line expanders") struct LineExpanderTests {
  static let address = I2CAddress(0x20)!

  /// A chip on a simulated bus, with its lines.
  struct Bench {
    let bus = SimulatedI2CBus()
    let simulator: LineExpanderSimulator
    private let owner: ExpanderLines
    var port: GPIOLines { owner.port() }

    init(_ chip: LineExpander, pins: [Int], pulledUp: UInt16 = 0) {
      simulator = LineExpanderSimulator(chip, pulledUp: pulledUp)
      bus.attach(simulator.chip, at: LineExpanderTests.address)
      owner = ExpanderLines(chip, pins: pins, on: bus.port())
    }

    /// The writes since a number, `14 01 00` by register and bytes.
    func writes(since number: Int64 = 0) -> [String] {
      bus.transactions(since: number).filter { [.writeByte, .writeBlock, .plainWrite].contains($0.operation) }.map {
        let bytes = (0..<$0.bytes.count).map { [bytes = $0.bytes] in hex(bytes[$0]) }
        return (($0.operation == .plainWrite ? [] : [hex($0.register)]) + bytes).joined(separator: " ")
      }
    }
  }

  static func mcp23017(_ pins: [Int] = [0, 15], activeLow: UInt16 = 0, pulledUp: UInt16 = 0) -> Bench {
    let outputs: UInt16 = pins.reduce(0) { $0 | 1 << UInt16($1) }
    return Bench(
      .mcp23017(MCP23017(address: address, outputs: outputs, activeLow: activeLow)), pins: pins, pulledUp: pulledUp)
  }

  @Test("mcp23017: bank 0, levels before directions; later both again, and nothing else")
  func bytes() throws {
    let bench = Self.mcp23017(activeLow: 0x8000)
    var lines = bench.port
    try lines.turnAllOff()
    #expect(bench.writes() == ["05 00", "0a 00", "02 00 00", "12 00 80", "00 fe 7f"])
    let seen = bench.bus.transactionCount
    try lines.set(0, true)
    try lines.set(1, true)
    #expect(bench.writes(since: seen) == ["12 01 80", "00 fe 7f", "12 01 00", "00 fe 7f"])
    #expect(bench.simulator.levels == 0x0001)
    #expect(try lines.read() == 0b11)
  }

  @Test("mcp23017: without power its lines read as the opposite of what they were told; told again they are right")
  func powerCut() throws {
    let bench = Self.mcp23017()
    var lines = bench.port
    try lines.set(mask: 0b11, values: 0b01)
    bench.simulator.cutPower()
    #expect(bench.simulator.levels == 0)
    #expect(try lines.read() == 0b10)
    try lines.set(mask: 0b11, values: 0b01)
    #expect(try lines.read() == 0b01)
    #expect(bench.simulator.levels == 0x0001)
  }

  @Test("a pin that is stuck reads as it is; loosened it follows")
  func stuck() throws {
    let bench = Self.mcp23017()
    var lines = bench.port
    try lines.turnAllOff()
    bench.simulator.pin(15).stick(isHigh: true)
    #expect(try lines.read() == 0b10)
    bench.simulator.pin(15).loosen()
    #expect(try lines.read() == 0)
  }

  @Test(
    "no acknowledge, a stuck bus: an error that names the chip; the chip is prepared anew, and what was told last is told"
  )
  func failures() throws {
    let bench = Self.mcp23017()
    var lines = bench.port
    try lines.set(mask: 0b11, values: 0b11)
    bench.bus.inject(.noAcknowledge(address: Self.address, count: nil))
    #expect(throws: GPIOError.chip(address: Self.address, errno: 121)) { try lines.turnAllOff() }
    #expect(throws: GPIOError.chip(address: Self.address, errno: 121)) { try lines.read() }
    bench.bus.clearFaults()
    bench.bus.inject(.stuck)
    #expect(throws: GPIOError.chip(address: Self.address, errno: 110)) { try lines.read() }
    #expect("\(GPIOError.chip(address: Self.address, errno: 121))" == "the I2C chip 0x20 does not acknowledge")
    #expect(bench.simulator.levels == 0x8001)
    bench.bus.clearFaults()
    let seen = bench.bus.transactionCount
    try lines.set(0, false)
    #expect(bench.writes(since: seen) == ["05 00", "0a 00", "02 00 00", "12 00 00", "00 fe 7f"])
    #expect(bench.simulator.levels == 0)
  }

  @Test("pcf8574: one byte, active low; high from power on")
  func plain() throws {
    let bench = Bench(.pcf8574(PCF8574(address: Self.address)), pins: [7, 0])
    #expect(bench.simulator.levels == 0xFFFF)
    var lines = bench.port
    try lines.turnAllOff()
    try lines.set(0, true)
    try lines.set(mask: 0b11, values: 0b10)
    #expect(bench.writes() == ["ff", "7f", "fe"])
    #expect(try lines.read() == 0b10)
    bench.simulator.cutPower()
    #expect(try lines.read() == 0)
    bench.simulator.pin(7).stick(isHigh: false)
    #expect(try lines.read() == 0b01)
  }

  @Test("the stop of each: what the guard writes")
  func stops() throws {
    let (bus, simulator) = (SimulatedI2CBus(), SimulatedI2CRegisters())
    bus.attach(simulator.chip, at: Self.address)
    var port = bus.port()
    try LineExpander.mcp23017(MCP23017(address: Self.address, outputs: 0x00FF, activeLow: 0x0003)).turnOff(on: &port)
    try LineExpander.pcf8574(PCF8574(address: Self.address)).turnOff(on: &port)
    let log = bus.transactions()
    #expect(log.map(\.register) == [0x12, 0x00, 0])
    #expect(log.map { $0.bytes[0] } == [0x03, 0x00, 0xFF] && log[0].bytes[1] == 0 && log[1].bytes[1] == 0xFF)
  }
}

@Suite("lines of several chips as one request") struct CombinedLinesTests {
  @Test("off on every chip before on anywhere; places as given")
  func order() throws {
    let bank = SimulatedGPIOBank()
    let first = try bank.outputs([.init(.bcm(1)), .init(.bcm(2))])
    let second = try bank.outputs([.init(.bcm(3))])
    let combined = CombinedGPIOLines(count: 3)
    combined.add(first.port(), at: [2, 0])
    combined.add(second.port(), at: [1])
    var lines = combined.port()
    try lines.set(mask: lines.all, values: 0b101)
    #expect(bank.isHigh(1) && bank.isHigh(2) && !bank.isHigh(3))
    #expect(try lines.read() == 0b101)
    let seen = bank.transactionCount
    try lines.set(mask: lines.all, values: 0b010)
    let sets = bank.transactions(since: seen)
    #expect(sets.map(\.lines) == [0b0110, 0b1000] && sets.map(\.levels) == [0, 0b1000])
    #expect(try lines.read() == 0b010)
  }

  @Test("a chip that does not turn off: the others still do, and nothing is turned on")
  func failure() throws {
    let (bank, gone) = (SimulatedGPIOBank(), SimulatedGPIOBank())
    let first = try gone.outputs([.init(.bcm(1))])
    let second = try bank.outputs([.init(.bcm(2)), .init(.bcm(3))])
    let combined = CombinedGPIOLines(count: 3)
    combined.add(first.port(), at: [0])
    combined.add(second.port(), at: [1, 2])
    var lines = combined.port()
    try lines.set(mask: lines.all, values: 0b011)
    gone.inject(.gone)
    #expect(throws: GPIOError.gone) { try lines.set(mask: lines.all, values: 0b100) }
    #expect(!bank.isHigh(2) && !bank.isHigh(3))
    #expect(throws: GPIOError.gone) { try lines.read() }
  }
}

@Suite("74HC595 on four lines") struct ShiftRegisterTests {
  let bank = SimulatedGPIOBank(highAtRest: [17])
  let held: SimulatedGPIOLines

  init() throws {
    held = try bank.outputs([27, 4, 22, 17].map { GPIOLine(.bcm($0), isActiveLow: $0 == 17) })
  }

  /// The chain after everything that the log has, fed change by change.
  private func chain(length: Int, noise: UInt64) -> ShiftRegisterSimulator {
    var chain = ShiftRegisterSimulator(length: length, noise: noise)
    var levels: UInt64 = 1 << 17
    for transaction in bank.transactions() where transaction.operation == .set {
      levels = levels & ~transaction.lines | transaction.levels
      func isHigh(_ line: UInt64) -> Bool { levels >> line & 1 == 1 }
      chain.set(.init(data: isHigh(27), clock: isHigh(4), latch: isHigh(22), isEnabled: !isHigh(17)))
    }
    return chain
  }

  @Test("disabled until a line is active; output 0 is the near chip's first; all off disables", arguments: [8, 16, 64])
  func outputs(length: Int) throws {
    let last = length - 1
    let (near, far): (UInt64, UInt64) = (1, 1 << UInt64(last))
    let owner = ShiftRegisterLines(length: length, outputs: [0, last], on: held.port())
    var lines = owner.port()
    try lines.turnAllOff()
    #expect(chain(length: length, noise: .max).outputs == nil && bank.isHigh(17))
    #expect(try lines.read() == 0)
    try lines.set(0, true)
    #expect(chain(length: length, noise: .max).outputs == near)
    try lines.set(1, true)
    #expect(chain(length: length, noise: 0).outputs == near | far)
    #expect(try lines.read() == 0b11)
    try lines.set(mask: 0b11, values: 0b10)
    #expect(chain(length: length, noise: 0).outputs == far)
    try lines.turnAllOff()
    #expect(chain(length: length, noise: 0).outputs == nil)
  }

  @Test("active-low outputs: those that are no lines are inactive, too")
  func activeLow() throws {
    let owner = ShiftRegisterLines(length: 8, activeLow: 0xFF, outputs: [2], on: held.port())
    var lines = owner.port()
    try lines.set(0, true)
    #expect(chain(length: 8, noise: 0).outputs == 0b1111_1011)
  }

  @Test(
    "read: disabled by somebody else is off; a disturbed register is mended; a stuck line is the opposite of what was told"
  )
  func readBack() throws {
    let owner = ShiftRegisterLines(length: 8, outputs: [0, 1], on: held.port())
    var lines = owner.port()
    try lines.set(0, true)
    var other = held.port()
    try other.set(3, false)
    #expect(try lines.read() == 0)
    try lines.set(0, true)
    // Read once more: whatever the register held before, it is right after it.
    #expect(try lines.read() == 0b01)
    #expect(chain(length: 8, noise: 0xA5).outputs == 1)
    bank.inject(.stuck(line: 4, isHigh: true))
    #expect(try lines.read() == 0b10)
    bank.clearFaults()
    bank.inject(.stuck(line: 17, isHigh: false))
    try lines.turnAllOff()
    #expect(try lines.read() == 0b11)
    bank.clearFaults()
    bank.inject(.gone)
    #expect(throws: GPIOError.gone) { try lines.turnAllOff() }
  }
}
