import Buses
import Devices
import Tactus
import Testing

@Suite("MCP3008 on a simulated SPI bus") struct MCP3008Tests {
  let world = MCP3008Simulator(reference: 3.3)
  let bus: SimulatedSPIBus

  init() { bus = SimulatedSPIBus(world.chip) }

  @Test("read: three bytes a channel, ten bits of the reference")
  func reads() throws {
    var port = bus.port()
    port.now = milliseconds(7)
    world[0] = 1.65
    world[7] = 3.3
    #expect(try MCP3008().read(0, on: &port) == 512)
    #expect(try MCP3008().read(7, on: &port) == 1023)
    #expect(try MCP3008().read(3, on: &port) == 0)
    world[3] = 9
    #expect(try MCP3008().read(3, on: &port) == 1023)
    world[3] = -1
    #expect(try MCP3008().read(3, on: &port) == 0)
    let log = bus.transactions()
    #expect(log.map { [$0.out[0], $0.out[1], $0.out[2]] }[..<3] == [[1, 0x80, 0], [1, 0xF0, 0], [1, 0xB0, 0]])
    #expect(log[0].received[1] == 0xFA && log[0].received[2] == 0x00)
    #expect(log.map(\.sequence) == [0, 1, 2, 3, 4] && log[0].at == milliseconds(7) && log[0].result == 0)
    #expect(bus.transactions(since: 4).count == 1 && bus.transactionCount == 5)
  }

  @Test("no chip: the line floats high, which is no value; a device that is gone is an error; cleared, all is well")
  func faults() throws {
    var port = bus.port()
    bus.inject(.noChip)
    #expect(try MCP3008().read(0, on: &port) == nil)
    bus.inject(.fails(errno: 19))
    #expect(bus.activeFaults == [.noChip, .fails(errno: 19)])
    do throws(SPIError) {
      _ = try MCP3008().read(0, on: &port)
      Issue.record("it reads")
    } catch {
      #expect(error == .gone)
    }
    bus.clearFaults()
    #expect(bus.activeFaults == [])
    #expect(try MCP3008().read(0, on: &port) == 0)
  }
}
