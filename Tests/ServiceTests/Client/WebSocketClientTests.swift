import Buses
import Glibc
import ServiceSupport
import TestSupport
import Testing

@testable import Service

@Suite("A client of a daemon's WebSocket", .ownThread)
struct WebSocketClientTests {
  private func isReadable(_ port: borrowing DatagramPort) -> Bool {
    var request = pollfd(fd: port.descriptor!, events: Int16(POLLIN), revents: 0)
    return poll(&request, 1, patience) == 1
  }

  @Test("frames go out and come back; when the client ends, what was sent has arrived and the door has seen it leave")
  func frames() throws {
    let system = NotingSystem("leg")
    let service = try RunningService(systems: [system])
    let address = try #require(ServiceAddress("127.0.0.1:\(service.port)"))
    let client = try WebSocketClient(address, token: nil)
    var port = client.bridge.port()
    client.start()
    let ping: [UInt8] = [1, 4, 0, 0]
    var batch = DatagramBatch(capacity: 4, size: 64)
    // What is sent before there is a connection is dropped.
    var tries = 0
    repeat {
      #expect(ping.withUnsafeBytes { port.send($0, to: .linkPeer) })
      var request = pollfd(fd: port.descriptor!, events: Int16(POLLIN), revents: 0)
      if poll(&request, 1, 50) == 1 { _ = port.receive(into: &batch) }
      tries += 1
    } while batch.count == 0 && tries < patience / 50
    #expect(batch.count > 0 && Array(batch.bytes(0)!) == ping + ping)
    #expect(client.trouble == nil)
    let last: [UInt8] = [1, 2, 0, 0]
    for _ in 0..<3 { #expect(last.withUnsafeBytes { port.send($0, to: .linkPeer) }) }
    client.stop()
    let client2 = try WebSocketClient(address, prefix: [0x83], token: nil)
    client2.stop()
    #expect(eventually { system.seen.withLock { $0.left.count == 1 } })
    service.service.stop()
    system.seen.withLock { seen in
      #expect(seen.frames.suffix(3) == [last, last, last])
      #expect(seen.left.count == 1)
    }
  }

  @Test("nobody there, no WebSocket there: says why, and frames are dropped")
  func refusals() throws {
    let service = try RunningService(systems: [])
    let address = try #require(ServiceAddress("127.0.0.1:\(service.port)"))
    // Nobody is let in with a token.
    let client = try WebSocketClient(address, token: "wrong")
    client.start()
    var tries = 0
    while client.trouble == "connecting", tries < patience / 10 {
      var none = pollfd(fd: -1, events: 0, revents: 0)
      poll(&none, 1, 10)
      tries += 1
    }
    #expect(client.trouble == "the daemon wants a valid token: give --token-file or set TACTUS_TOKEN")
    client.stop()
  }

  @Test("a prefix: taken off what begins with it, and what begins otherwise is not taken")
  func prefixes() {
    #expect(MessagePrefix([0x83]).content(of: [0x83, 1, 16]) == [1, 16])
    #expect(MessagePrefix([0x83]).content(of: [1, 16]) == nil)
    #expect(MessagePrefix([0x83]).content(of: []) == nil)
    #expect(MessagePrefix([]).content(of: [1, 16]) == [1, 16])
  }
}
