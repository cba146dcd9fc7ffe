import Buses
import BusesLinux
import Glibc
import Tactus
import TestSupport
import Testing

@Suite(.ownThread) struct LinuxDatagramSocketTests {
  @Test("three datagrams waiting: one receive takes all, in order, with the sender's address")
  func batch() throws {
    let receiver = try LinuxDatagramSocket(address: "127.0.0.1", port: 0)
    let sender = try LinuxDatagramSocket(address: "127.0.0.1", port: 0)
    var inbox = receiver.port()
    var outbox = sender.port()
    for text in ["one", "", "three"] { #expect(send(text, from: &outbox, to: receiver.localEndpoint)) }
    var batch = DatagramBatch(capacity: 8, size: 64)
    #expect(becomesReadable(inbox.descriptor))
    let more = inbox.receive(into: &batch)
    #expect(!more)
    #expect(texts(batch) == ["one", "", "three"])
    #expect((0..<batch.count).allSatisfy { batch.source($0) == sender.localEndpoint })
    _ = inbox.receive(into: &batch)
    #expect(batch.count == 0)
    withExtendedLifetime((receiver, sender)) {}
  }

  @Test("arrival: when the kernel had each datagram, by the runtime's clock, however late it is read")
  func arrival() throws {
    let receiver = try LinuxDatagramSocket(address: "127.0.0.1", port: 0)
    let sender = try LinuxDatagramSocket(address: "127.0.0.1", port: 0)
    var inbox = receiver.port()
    var outbox = sender.port()
    var batch = DatagramBatch(capacity: 8, size: 64)
    // Twice at least: what the kernel writes beside the datagrams is overwritten by every receive.
    var (rounds, right) = (0, 0)
    while right < 2, rounds < 100 {
      rounds += 1
      var between: [TickInstant] = [MonotonicClock.now]
      for text in ["one", "two"] {
        #expect(send(text, from: &outbox, to: receiver.localEndpoint))
        between.append(MonotonicClock.now)
      }
      #expect(becomesReadable(inbox.descriptor))
      _ = inbox.receive(into: &batch)
      try #require(batch.count == 2)
      // The two clocks are read one after the other. On a loaded machine the thread may pause between them, and both instants seem to be later.
      let slack = Nanoseconds.milliseconds(1)
      var isRight = true
      for index in 0..<2 {
        let stamp = batch.arrivedAt(index)
        let arrived = try #require(stamp)
        #expect(between[index] - slack <= arrived)
        if arrived > between[index + 1] + slack { isRight = false }
      }
      if isRight { right += 1 }
    }
    #expect(right == 2, "of \(rounds) rounds")
    withExtendedLifetime((receiver, sender)) {}
  }

  @Test("more waiting than the batch holds: full batches say so, nothing is lost", arguments: [2, 64, 65, 150])
  func fullBatch(capacity: Int) throws {
    let receiver = try LinuxDatagramSocket(address: "127.0.0.1", port: 0)
    let sender = try LinuxDatagramSocket(address: "127.0.0.1", port: 0)
    var inbox = receiver.port()
    var outbox = sender.port()
    let sent = (0..<2 * capacity + 1).map { "packet \($0)" }
    for text in sent { #expect(send(text, from: &outbox, to: receiver.localEndpoint)) }
    var batch = DatagramBatch(capacity: capacity, size: 64)
    var received: [String?] = []
    var fills: [Bool] = []
    for _ in 0..<3 {
      fills.append(inbox.receive(into: &batch))
      received += texts(batch)
    }
    #expect(received == sent)
    #expect(fills == [true, true, false])
    #expect(receiver.kernelDrops == 0)
    withExtendedLifetime((receiver, sender)) {}
  }

  @Test("datagram longer than a slot: delivered without bytes, its neighbours untouched")
  func truncation() throws {
    let receiver = try LinuxDatagramSocket(address: "127.0.0.1", port: 0)
    let sender = try LinuxDatagramSocket(address: "127.0.0.1", port: 0)
    var inbox = receiver.port()
    var outbox = sender.port()
    let exact = String(repeating: "e", count: 16)
    for text in ["before", exact + "!", exact, "after"] {
      #expect(send(text, from: &outbox, to: receiver.localEndpoint))
    }
    var batch = DatagramBatch(capacity: 8, size: 16)
    _ = inbox.receive(into: &batch)
    #expect(texts(batch) == ["before", nil, exact, "after"])
    withExtendedLifetime((receiver, sender)) {}
  }

  @Test(
    "dual-stack socket: IPv4 and IPv6 senders are told apart and both can be answered",
    .enabled(if: hasIPv6, "no IPv6 here"))
  func bothFamilies() throws {
    let receiver = try LinuxDatagramSocket(address: "::", port: 0)
    let four = try LinuxDatagramSocket(address: "127.0.0.1", port: 0)
    let six = try LinuxDatagramSocket(address: "::1", port: 0)
    var inbox = receiver.port()
    var fourPort = four.port()
    var sixPort = six.port()
    let port = receiver.localEndpoint.port
    #expect(send("4", from: &fourPort, to: .ipv4(127, 0, 0, 1, port: port)))
    #expect(send("6", from: &sixPort, to: Endpoint(high: 0, low: 1, port: port)))
    var batch = DatagramBatch(capacity: 8, size: 16)
    _ = inbox.receive(into: &batch)
    try #require(texts(batch) == ["4", "6"])
    #expect(batch.source(0) == four.localEndpoint)
    #expect(batch.source(1) == six.localEndpoint)
    #expect(send("to 4", from: &inbox, to: batch.source(0)))
    #expect(send("to 6", from: &inbox, to: batch.source(1)))
    _ = fourPort.receive(into: &batch)
    #expect(texts(batch) == ["to 4"])
    _ = sixPort.receive(into: &batch)
    #expect(texts(batch) == ["to 6"])
    withExtendedLifetime((receiver, four, six)) {}
  }

  @Test("IPv4 socket: sending to an IPv6 endpoint is refused")
  func wrongFamily() throws {
    let socket = try LinuxDatagramSocket(address: "127.0.0.1", port: 0)
    var port = socket.port()
    #expect(!send("x", from: &port, to: Endpoint(high: 0, low: 1, port: 5005)))
    withExtendedLifetime(socket) {}
  }

  @Test("receive buffer full: the kernel's drops are counted, sent = received + dropped")
  func drops() throws {
    let receiver = try LinuxDatagramSocket(address: "127.0.0.1", port: 0, receiveBufferBytes: 4096)
    let sender = try LinuxDatagramSocket(address: "127.0.0.1", port: 0)
    var inbox = receiver.port()
    var outbox = sender.port()
    for _ in 0..<200 { #expect(send("flood", from: &outbox, to: receiver.localEndpoint)) }
    var batch = DatagramBatch(capacity: 200, size: 16)
    _ = inbox.receive(into: &batch)
    let dropped = try #require(receiver.kernelDrops)
    #expect(dropped > 0)
    #expect(Int64(batch.count) + dropped == 200)
    #expect(receiver.receiveBufferBytes >= 4096)
    withExtendedLifetime((receiver, sender)) {}
  }

  @Test("port taken: the error names address and port; free again once the owner is gone")
  func busyPort() throws {
    var port: UInt16 = 0
    do {
      let first = try LinuxDatagramSocket(address: "127.0.0.1", port: 0)
      port = first.localEndpoint.port
      #expect(throws: BusOpenError.portInUse(address: "127.0.0.1", port: port)) {
        try LinuxDatagramSocket(address: "127.0.0.1", port: port)
      }
      withExtendedLifetime(first) {}
    }
    let text = BusOpenError.portInUse(address: "127.0.0.1", port: port).description
    #expect(text.hasPrefix("UDP port \(port) on 127.0.0.1: already in use"))
    let again = try LinuxDatagramSocket(address: "127.0.0.1", port: port)
    #expect(again.localEndpoint == .ipv4(127, 0, 0, 1, port: port))
  }

  @Test(
    "bind address that is no numeric address: refused",
    arguments: ["localhost", "", "127.0.0", "127.0.0.1:5005", "[::1]", "::1%", "fe80::1%no-such-if"])
  func badAddress(text: String) {
    #expect(throws: BusOpenError.badBindAddress(text)) { try LinuxDatagramSocket(address: text, port: 0) }
  }

  @Test("bind address of another machine: refused")
  func foreignAddress() {
    #expect(throws: BusOpenError.addressNotHere("192.0.2.1")) {
      try LinuxDatagramSocket(address: "192.0.2.1", port: 0)
    }
  }
}

@Suite(.ownThread) struct EndpointTextTests {
  @Test("endpoint text: parsed to address, port and scope")
  func parsing() {
    #expect(Endpoint("192.168.1.5:5005") == .ipv4(192, 168, 1, 5, port: 5005))
    #expect(
      Endpoint("[fe80::1%2]:5005") == Endpoint(high: 0xfe80_0000_0000_0000, low: 1, port: 5005, scope: 2))
    #expect(Endpoint("[::1]:65535") == Endpoint(high: 0, low: 1, port: 65535))
    #expect(Endpoint("[::1%lo]:1")?.scope == 1)
    #expect(Endpoint("[::ffff:10.0.0.1]:9") == .ipv4(10, 0, 0, 1, port: 9))
  }

  @Test("endpoint text: what it prints, it reads", arguments: ["10.1.2.3:1", "[fe80:0:0:0:0:0:0:1%2]:5005"])
  func roundTrip(text: String) {
    #expect(Endpoint(text)?.description == text)
  }

  @Test(
    "endpoint text malformed: nil",
    arguments: [
      "", ":", "localhost:5005", "1.2.3.4", "1.2.3.4:", "1.2.3.4:65536", "1.2.3.4:+5", "1.2.3.4:-1", "::1:5005",
      "[1.2.3.4]:5005", "[::1]5005", "[::1:5005", "[]:5005", "1.2.3.4:5005 ", "[fe80::1%]:1",
    ])
  func malformed(text: String) {
    #expect(Endpoint(text) == nil)
  }
}

private let hasIPv6 = (try? LinuxDatagramSocket(address: "::1", port: 0)) != nil

private func send(_ text: String, from port: inout DatagramPort, to endpoint: Endpoint) -> Bool {
  // An empty array's buffer may have no base address, and an empty datagram is a datagram.
  let bytes = Array(text.utf8) + [0]
  return bytes.withUnsafeBytes { port.send(UnsafeRawBufferPointer(rebasing: $0.dropLast()), to: endpoint) }
}

private func texts(_ batch: borrowing DatagramBatch) -> [String?] {
  (0..<batch.count).map { batch.bytes($0).map { String(decoding: $0, as: UTF8.self) } }
}
