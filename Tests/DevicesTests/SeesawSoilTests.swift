import Buses
import Devices
import Tactus
import Testing

@Suite("STEMMA soil sensor") struct SeesawSoilTests {
  let world = SeesawSoilSimulator(moisture: 815, celsius: 21.5)
  let simulated = SimulatedI2CBus()
  let chip = SeesawSoil()

  init() { simulated.attach(world.chip, at: SeesawSoil.standardAddress) }

  @Test("moisture, temperature, hardware: the bytes on the bus, and what is read after 5 ms")
  func reads() throws {
    var bus = simulated.port()
    try chip.request(.moisture, on: &bus)
    bus.now = milliseconds(5)
    #expect(try chip.moisture(on: &bus) == 815)
    try chip.request(.temperature, on: &bus)
    bus.now = milliseconds(10)
    #expect(try chip.temperature(on: &bus) == 21.5)
    try chip.request(.hardware, on: &bus)
    bus.now = milliseconds(15)
    #expect(try chip.hardware(on: &bus) == 0x55)
    #expect(
      simulated.transactions().map { "\($0.operation) " + $0.bytes.array.map(hex).joined(separator: " ") } == [
        "plainWrite 0f 10", "plainRead 03 2f", "plainWrite 00 04", "plainRead 00 15 80 00", "plainWrite 00 01",
        "plainRead 55",
      ])
  }

  @Test("a read before 5 ms, a glitch, counts beyond 4095: not a measurement")
  func invalid() throws {
    var bus = simulated.port()
    try chip.request(.moisture, on: &bus)
    bus.now = TickInstant(nanoseconds: 4_999_999)
    #expect(try chip.moisture(on: &bus) == nil)
    #expect(world.earlyReads == 1)
    bus.now = milliseconds(5)
    world.glitch(reads: 1)
    #expect(try chip.moisture(on: &bus) == nil)
    world.moisture = 4095
    #expect(try chip.moisture(on: &bus) == 4095)
    world.moisture = 4096
    #expect(try chip.moisture(on: &bus) == nil)
  }

  @Test("temperature: the top two bits do not count; all ones are no temperature")
  func temperature() throws {
    var bus = simulated.port()
    try chip.request(.temperature, on: &bus)
    #expect(try chip.temperature(on: &bus) == nil)
    // 0xC0000000 + 25 °C.
    let marked = SimulatedI2CBus()
    let answer = FixedAnswer([0xC0, 0x19, 0x00, 0x00])
    marked.attach(answer.chip, at: SeesawSoil.standardAddress)
    var port = marked.port()
    #expect(try chip.temperature(on: &port) == 25)
  }

  @Test("reset: 00 7F FF, no answer for 500 ms")
  func reset() throws {
    var bus = simulated.port(attempts: 1)
    try chip.reset(on: &bus)
    #expect(simulated.transactions().last?.bytes.array == [0x00, 0x7F, 0xFF])
    bus.now = milliseconds(499)
    #expect(
      error { () throws(I2CError) in try chip.request(.hardware, on: &bus) }
        == .noAcknowledge(address: chip.address, register: 0))
    bus.now = milliseconds(500)
    try chip.request(.hardware, on: &bus)
    #expect(world.resets == 1)
  }

  @Test(
    "hardware: 0x55 and 0x87 are seesaws, anything else is not", arguments: [0x55, 0x87, 0x00, 0xFF, 0x54] as [UInt8])
  func hardware(code: UInt8) throws {
    let other = SimulatedI2CBus()
    other.attach(SeesawSoilSimulator(hardware: code).chip, at: chip.address)
    var bus = other.port()
    try chip.request(.hardware, on: &bus)
    bus.now = milliseconds(5)
    #expect(try chip.hardware(on: &bus) == (code == 0x55 || code == 0x87 ? code : nil))
  }
}

/// A chip that gives the same bytes to every read.
private final class FixedAnswer: @unchecked Sendable {
  private let bytes: UnsafeMutablePointer<UInt8>

  init(_ values: [UInt8]) {
    bytes = .allocate(capacity: values.count)
    for (index, value) in values.enumerated() { bytes[index] = value }
  }

  deinit { bytes.deallocate() }

  var chip: SimulatedI2CChip {
    SimulatedI2CChip(context: bytes, owner: self) { context, request in
      let transfer = request.assumingMemoryBound(to: I2CTransfer.self)
      let bytes = context.assumingMemoryBound(to: UInt8.self)
      for index in 0..<transfer.pointee.bytes.count { transfer.pointee.bytes[index] = bytes[index] }
      return 0
    }
  }
}
