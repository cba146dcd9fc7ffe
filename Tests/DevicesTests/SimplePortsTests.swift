import Buses
import Tactus
import Testing

@Suite("Ports: single bytes, and a chip of registers")
struct SimplePortsTests {
  @Test("registers: bytes, blocks that go on after 255 with 0, plain transfers that name their register first")
  func registers() throws {
    let chip = SimulatedI2CRegisters()
    let address = try #require(I2CAddress(0x16))
    let owner = SimulatedI2CBus()
    owner.attach(chip.chip, at: address)
    var bus = owner.port()
    try bus.writeByte(7, to: address, register: 3)
    #expect(chip[3] == 7 && chip[2] == 0 && chip[4] == 0)
    try bus.writeBlock(bytes([1, 2, 3]), to: address, register: 254)
    #expect(chip[254] == 1 && chip[255] == 2 && chip[0] == 3)
    chip[4] = 9
    let block = try bus.readBlock(2, from: address, register: 3)
    #expect(block.count == 2 && block[0] == 7 && block[1] == 9)
    try bus.plainWrite(bytes([3]), to: address)
    let plain = try bus.plainRead(2, from: address)
    #expect(plain[0] == 7 && plain[1] == 9)
    try bus.plainWrite(bytes([10, 5, 6]), to: address)
    #expect(chip[10] == 5 && chip[11] == 6)
  }

  private func bytes(_ list: [UInt8]) -> I2CBytes {
    var bytes = I2CBytes()
    for byte in list { bytes.append(byte) }
    return bytes
  }

  @Test("a serial line byte by byte: each arrives once, then none; full and gone are told")
  func serial() throws {
    let owner = SimulatedSerialPort(capacity: 4)
    let device = owner.device
    var line = owner.port()
    try line.write(0xA5)
    #expect(device.read() == 0xA5 && device.read() == nil)
    device.write(0x5A)
    let (first, second) = (try line.read(), try line.read())
    #expect(first == 0x5A && second == nil)
    var taken = 0
    while device.write(1) { taken += 1 }
    #expect(taken == 4)
    owner.inject(.full)
    #expect(throws: SerialError.full(written: 0, count: 1)) { try line.write(1) }
    owner.inject(.gone)
    #expect(throws: SerialError.gone) { _ = try line.read() }
  }

  @Test("a serial line that nobody reads: what is sent is gone, until a device is attached; its faults are told")
  func unread() throws {
    let owner = SimulatedSerialPort(capacity: 4, isRead: false)
    var line = owner.port()
    for byte in 0..<9 { try line.write(UInt8(byte)) }
    #expect(owner.device.read() == nil && owner.transactionCount == 9)
    owner.inject(.full)
    #expect(throws: SerialError.full(written: 0, count: 1)) { try line.write(1) }
    owner.clearFaults()
    let device = Unserved()
    owner.attach(
      SimulatedSerialDevice(context: Unmanaged.passUnretained(device).toOpaque(), owner: device) { _, _, _ in })
    try line.write(7)
    #expect(owner.device.read() == 7)
  }

  private final class Unserved {}
}
