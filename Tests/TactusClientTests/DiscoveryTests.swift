#if os(Linux)
  import Foundation
  import Glibc
  import Testing

  @testable import TactusClient

  /// What answers a browser's queries: a UDP socket of 127.0.0.1, in the place of the network's hosts.
  @MainActor
  private final class Responder {
    let port: UInt16
    private let descriptor: Int32
    private(set) var queries: [[UInt8]] = []
    private var asker = sockaddr_in()

    init() {
      let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isBound = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
        }
      }
      precondition(isBound, "no port of 127.0.0.1 is free")
      self.descriptor = descriptor
      port = UInt16(bigEndian: address.sin_port)
    }

    func close() { _ = Glibc.close(descriptor) }

    /// Where a browser asks.
    var group: QueryGroup { QueryGroup(address: [127, 0, 0, 1], port: port) }

    /// Takes what has come. Returns whether that many queries were received in all.
    func hasReceived(_ count: Int) -> Bool {
      var bytes = [UInt8](repeating: 0, count: 9_000)
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      var source = sockaddr_in()
      let length: Int = bytes.withUnsafeMutableBytes { buffer in
        withUnsafeMutablePointer(to: &source) { pointer in
          pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            recvfrom(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT), $0, &size)
          }
        }
      }
      if length > 0 {
        queries.append(Array(bytes.prefix(length)))
        asker = source
      }
      return queries.count == count
    }

    /// Sends a message to who asked last, with the number of its query in the place of the first two bytes.
    func answer(_ message: [UInt8], to number: [UInt8]? = nil) {
      let bytes = (number ?? Array(queries[queries.count - 1].prefix(2))) + message.dropFirst(2)
      let sent = withUnsafePointer(to: &asker) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          sendto(descriptor, bytes, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      #expect(sent == bytes.count)
    }

    /// Sends a message to who has asked another responder, which is then one from a wrong port.
    func answer(_ message: [UInt8], of other: Responder) {
      asker = other.asker
      answer(message, to: Array(other.queries[other.queries.count - 1].prefix(2)))
    }
  }

  @Suite("Discovery on Linux")
  @MainActor
  struct DiscoveryTests {
    private let responder = Responder()
    private let clock = ManualClock()
    private let browser: DaemonBrowser

    init() { browser = DaemonBrowser(clock: clock, group: responder.group) }

    private func begin() async {
      browser.start()
      await eventually("a query") { responder.hasReceived(1) }
    }

    @Test("daemons that answer are found with host, port, addresses and texts; their endpoint has the IPv4 address")
    func found() async throws {
      await begin()
      let query = try #require(responder.queries.first)
      #expect(query.dropFirst(2) == DNSMessage.query(0, [.init(name: DNSMessageTests.tactus, type: 12)]).dropFirst(2))
      responder.answer(DNSMessageTests.avahi)
      await eventually("found") { browser.found.count == 2 }
      let first = browser.found[0]
      #expect(first.name == "Tactus on pi" && first.id == first.name && !first.isSecure && browser.failure == nil)
      #expect(first.host == "bench.local" && first.port == 8101 && first.addresses == ["127.0.0.1", "::1"])
      #expect(first.texts == ["version": "0.1.0", "api": "/api", "tls": "0", "systems": "robot"])
      let endpoint = try await browser.endpoint(of: browser.found[1])
      #expect(endpoint == Endpoint(host: "127.0.0.1", port: 8102, instance: "Tactus on pi #2"))
      browser.stop()
      responder.close()
    }

    @Test("an answer to another query, nonsense, and what comes from another port find nothing")
    func strange() async {
      await begin()
      var forged = DNSMessageTests.avahi
      // Were one of these taken, the first daemon would be called "tactus on pi".
      forged[0x31] = UInt8(ascii: "t")
      responder.answer(forged, to: [0, 0])
      responder.answer([UInt8](repeating: 0xC0, count: 600))
      let other = Responder()
      other.answer(forged, of: responder)
      responder.answer(DNSMessageTests.avahi)
      // Datagrams come in their order.
      await eventually("found") { browser.found.count == 2 }
      #expect(browser.found.map(\.name) == ["Tactus on pi", "Tactus on pi #2"])
      browser.stop()
      responder.close()
      other.close()
    }

    @Test("queries come after 1, 2, 4, 8 and then every 10 s; a daemon that does not answer three of them is gone")
    func gone() async {
      await begin()
      responder.answer(DNSMessageTests.avahi)
      await eventually("found") { browser.found.count == 2 }
      for (index, second) in [1, 3, 7].enumerated() {
        await eventually("the next query is due") { clock.deadlines == [.seconds(second)] }
        clock.advanceToNext()
        await eventually("a query") { responder.hasReceived(index + 2) }
        #expect(browser.found.count == 2)
      }
      await eventually("the next query is due") { clock.deadlines == [.seconds(15)] }
      clock.advanceToNext()
      await eventually("gone") { browser.found.isEmpty }
      for second in [25, 35] {
        await eventually("the next query is due") { clock.deadlines == [.seconds(second)] }
        clock.advanceToNext()
      }
      browser.stop()
      await eventually("nothing waits any more") { clock.deadlines.isEmpty }
      responder.close()
    }

    @Test("within a time limit: what was found until then, and browsing has ended")
    func limited() async throws {
      let limit = Duration.milliseconds(500)
      let finding = Task { try await browser.find(within: limit, clock: clock) }
      await eventually("a query") { responder.hasReceived(1) }
      responder.answer(DNSMessageTests.avahi)
      await eventually("found") { browser.found.count == 2 }
      await eventually("the limit is waited for") { clock.deadlines.contains(limit) }
      clock.advanceToNext()
      let found = try await finding.value
      #expect(found.map(\.name) == ["Tactus on pi", "Tactus on pi #2"] && clock.now == limit)
      await eventually("nothing waits any more") { clock.deadlines.isEmpty }
      responder.close()
    }

    @Test("a daemon with a link-local IPv6 address only: its endpoint is refused with the way out")
    func linkLocal() async {
      let found = DaemonBrowser.Found(
        name: "a", texts: ["tls": "1"], host: "pi.local", port: 8000, addresses: ["fe80::1"])
      #expect(found.isSecure)
      let failure = ClientError.unreachable(
        "a: it has a link-local address only; give its name, such as pi.local:8000")
      await #expect(throws: failure) { try await browser.endpoint(of: found) }
      responder.close()
    }
  }
#endif
