import Buses
import Devices
import Tactus
import Testing

@Suite("MAX31865 on a simulated SPI bus") struct MAX31865Tests {
  let world = MAX31865Simulator(celsius: 20)
  let bus = SimulatedSPIBus()

  init() { bus.attach(world.chip) }

  /// Reads at 0 ms, which configures, and again when a conversion is there.
  private func settled(_ thermometer: inout MAX31865, _ port: inout SPIPort) throws -> MAX31865.Reading {
    _ = try thermometer.read(on: &port)
    port.now = port.now + MAX31865.settlingTime
    return try thermometer.read(on: &port)
  }

  @Test("read: configured once, nothing before a conversion is there, then °C within a count of the converter")
  func reads() throws {
    var thermometer = MAX31865(range: -200...850)
    var port = bus.port()
    #expect(try thermometer.read(on: &port) == .none)
    port.now = port.now + MAX31865.settlingTime - .milliseconds(1)
    #expect(try thermometer.read(on: &port) == .none)
    port.now = port.now + .milliseconds(1)
    for celsius in [-190.0, -100, -20, 0, 20, 66.6, 100, 400, 840] {
      world.set(celsius: celsius)
      let read = try #require(try thermometer.celsius(on: &port))
      #expect(abs(read - celsius) < 0.05)
    }
    let writes = bus.transactions().filter { $0.out[0] == 0x80 }
    #expect(writes.count == 1 && writes[0].out[1] == 0xC3)
  }

  @Test("IEC 60751: 138.5055 Ω are 100 °C, and a wire count of three is in the configuration")
  func table() throws {
    // The code of 138.5055 Ω with 430 Ω is 10,555; of 60.2558 Ω, which is −100 °C, 4,592.
    var thermometer = MAX31865(wires: .three, rejects60Hz: true, range: -200...850)
    var port = bus.port()
    world.set(celsius: 100)
    let read = try settled(&thermometer, &port)
    guard case .celsius(let celsius) = read else { return #expect(Bool(false), "\(read)") }
    #expect(abs(celsius - 100) < 0.05)
    let last = bus.transactions().last { $0.out[0] == 0 }
    #expect(last.map { UInt16($0.received[2]) << 7 | UInt16($0.received[3]) >> 1 } == 10_555)
    #expect(bus.transactions().first { $0.out[0] == 0x80 }?.out[1] == 0xD2)
  }

  @Test("a wire that is off and two that touch are no temperatures")
  func wires() throws {
    var thermometer = MAX31865()
    var port = bus.port()
    _ = try settled(&thermometer, &port)
    world.thermometer.setOpen()
    #expect(try thermometer.read(on: &port) == .open)
    world.thermometer.setShorted()
    #expect(try thermometer.read(on: &port) == .shorted)
    #expect(try thermometer.celsius(on: &port) == nil)
    world.set(celsius: 301)
    #expect(try thermometer.read(on: &port) == .open)
  }

  @Test("a mark of a fault is cleared; it is gone when its cause is")
  func voltage() throws {
    var thermometer = MAX31865()
    var port = bus.port()
    _ = try settled(&thermometer, &port)
    world.setVoltage(true)
    #expect(try thermometer.read(on: &port) == .voltage)
    world.setVoltage(false)
    #expect(try thermometer.read(on: &port) != .voltage)
  }

  @Test("a loss of power: configured anew, and nothing is shown until then; the chip's 0 is no temperature")
  func power() throws {
    var thermometer = MAX31865(range: -200...850)
    var port = bus.port()
    _ = try settled(&thermometer, &port)
    world.reset()
    #expect(try thermometer.read(on: &port) == .none)
    #expect(try thermometer.read(on: &port) == .none)
    port.now = port.now + MAX31865.settlingTime
    #expect(try thermometer.celsius(on: &port) != nil)
  }

  @Test("no chip and a device that is gone: nothing is shown, and the latter is an error")
  func faults() throws {
    var thermometer = MAX31865()
    var port = bus.port()
    _ = try settled(&thermometer, &port)
    bus.inject(.noChip)
    #expect(try thermometer.read(on: &port) == .none)
    bus.clearFaults()
    bus.inject(.fails(errno: 19))
    #expect(throws: SPIError.gone) { try thermometer.read(on: &port) }
    #expect(thermometer.reading == .none)
    let withoutChip = SimulatedSPIBus()
    var empty = withoutChip.port()
    #expect(try thermometer.read(on: &empty) == .none)
    withExtendedLifetime(withoutChip) {}
  }
}
