import Buses
import Glibc
import Tactus
import Testing

@Suite struct MessageBridgeTests {
  private func isReadable(_ descriptor: Int32?) -> Bool {
    var request = pollfd(fd: descriptor!, events: Int16(POLLIN), revents: 0)
    return poll(&request, 1, 0) == 1
  }

  private func receive(_ port: inout DatagramPort, capacity: Int = 16) -> [[UInt8]] {
    var batch = DatagramBatch(capacity: capacity, size: 64)
    _ = port.receive(into: &batch)
    return (0..<batch.count).map { index in
      #expect(batch.source(index) == .linkPeer)
      return Array(batch.bytes(index)!)
    }
  }

  private func send(_ bytes: [UInt8], _ port: inout DatagramPort) -> Bool {
    var isSent = false
    bytes.withUnsafeBytes { isSent = port.send($0, to: .linkPeer) }
    return isSent
  }

  @Test(
    "messages pass both ways in order; the loop's descriptor is readable while one waits, the bell rings when one goes")
  func passes() throws {
    let bridge = try MessageBridge()
    var port = bridge.port()
    #expect(!isReadable(port.descriptor) && receive(&port).isEmpty)
    #expect(bridge.deliver([1, 2, 3]) && bridge.deliver(Array(0..<20)))
    #expect(isReadable(port.descriptor))
    #expect(receive(&port) == [[1, 2, 3], Array(0..<20)])
    #expect(!isReadable(port.descriptor))
    #expect(send([9], &port) && send([8, 7], &port))
    #expect(isReadable(bridge.departure.descriptor))
    #expect(bridge.take() == [9] && bridge.take() == [8, 7] && bridge.take() == nil)
  }

  @Test("empty, longer than 20 bytes, the 65th that waits: refused, the others are whole")
  func refuses() throws {
    let bridge = try MessageBridge()
    var port = bridge.port()
    #expect(!bridge.deliver([]) && !bridge.deliver(Array(repeating: 1, count: 21)))
    #expect(!send([], &port) && !send(Array(repeating: 1, count: 21), &port))
    for number in UInt8(0)..<64 { #expect(bridge.deliver([number]) && send([number], &port)) }
    #expect(!bridge.deliver([64]) && !send([64], &port))
    #expect(receive(&port, capacity: 100) == (UInt8(0)..<64).map { [$0] })
    for number in UInt8(0)..<64 { #expect(bridge.take() == [number]) }
  }
}
