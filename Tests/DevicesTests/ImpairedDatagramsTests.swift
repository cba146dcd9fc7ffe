import Buses
import Tactus
import Testing

@Suite("impaired datagrams")
struct ImpairedDatagramsTests {
  private static let device = Endpoint.ipv4(127, 0, 0, 1, port: 5005)
  private static let peer = Endpoint.ipv4(127, 0, 0, 1, port: 40_000)

  private let network = SimulatedNetwork([device, peer])
  private let impaired: ImpairedDatagrams

  init() { impaired = ImpairedDatagrams(network.port(Self.device), seed: 5) }

  private func send(_ bytes: [UInt8], atMilliseconds: Int64) {
    var port = network.port(Self.peer)
    port.now = TickInstant(nanoseconds: atMilliseconds * 1_000_000)
    bytes.withUnsafeBytes { _ = port.send($0, to: Self.device) }
  }

  /// What the loop gets at this instant: the first byte of each datagram.
  private func receive(atMilliseconds: Int64) -> [UInt8] {
    var port = impaired.port()
    var batch = DatagramBatch(capacity: 16, size: 64)
    port.now = TickInstant(nanoseconds: atMilliseconds * 1_000_000)
    _ = port.receive(into: &batch)
    return (0..<batch.count).compactMap { batch.bytes($0)?.first }
  }

  @Test("no impairment: everything passes at once, in order, with its sender, and is in the log")
  func clear() {
    for byte in UInt8(0)..<5 { send([byte, 9], atMilliseconds: 1) }
    #expect(receive(atMilliseconds: 1) == [0, 1, 2, 3, 4])
    let log = impaired.transactions()
    #expect(log.map(\.kept) == (0..<5).map { [$0, 9] } && log.allSatisfy { $0.direction == .received })
  }

  @Test("delay: not before its time")
  func delay() {
    impaired.conditions.delay = .milliseconds(30)
    send([7], atMilliseconds: 10)
    #expect(receive(atMilliseconds: 10).isEmpty)
    #expect(receive(atMilliseconds: 39).isEmpty)
    #expect(receive(atMilliseconds: 40) == [7])
    #expect(receive(atMilliseconds: 41).isEmpty)
  }

  @Test("arrival: what the port says, as much later as the datagram is made")
  func arrival() {
    func arrivals(atMilliseconds: Int64) -> [TickInstant?] {
      var port = impaired.port()
      var batch = DatagramBatch(capacity: 16, size: 64)
      port.now = .zero + .milliseconds(atMilliseconds)
      _ = port.receive(into: &batch)
      return (0..<batch.count).map { batch.arrivedAt($0) }
    }
    send([1], atMilliseconds: 10)
    #expect(arrivals(atMilliseconds: 17) == [.zero + .milliseconds(10)])
    impaired.conditions.delay = .milliseconds(30)
    send([2], atMilliseconds: 20)
    #expect(arrivals(atMilliseconds: 25).isEmpty)
    #expect(arrivals(atMilliseconds: 60) == [.zero + .milliseconds(50)])
  }

  @Test("loss and duplication: about as many as asked for, the same with the same seed")
  func rates() {
    impaired.conditions.lossPerMille = 300
    var received = 0
    for step in Int64(0)..<1000 {
      send([1], atMilliseconds: step)
      received += receive(atMilliseconds: step).count
    }
    #expect((650...750).contains(received), "seed 5: \(received)")
    impaired.conditions = .init()
    impaired.conditions.duplicationPerMille = 1000
    send([1], atMilliseconds: 2000)
    #expect(receive(atMilliseconds: 2000) == [1, 1])
  }

  @Test("link down: nothing in, nothing out, and nothing of that time afterwards")
  func down() {
    impaired.linkIsDown = true
    send([1], atMilliseconds: 1)
    #expect(receive(atMilliseconds: 1).isEmpty)
    var port = impaired.port()
    [UInt8(1)].withUnsafeBytes { _ = port.send($0, to: Self.peer) }
    #expect(network.statistics.sent == 1, "only the peer's")
    impaired.linkIsDown = false
    send([2], atMilliseconds: 2)
    #expect(receive(atMilliseconds: 2) == [2])
  }

  @Test("more at once than a batch holds: the loop is told to ask again, nothing is lost")
  func burst() {
    for byte in UInt8(0)..<40 { send([byte], atMilliseconds: 1) }
    #expect(receive(atMilliseconds: 1).count == 16)
    #expect(receive(atMilliseconds: 1).count == 16)
    #expect(receive(atMilliseconds: 1).count == 8)
  }

  @Test("a stall asked for: the tick that receives lasts so much longer, once")
  func stall() throws {
    let stall = LaneStall()
    let impaired = ImpairedDatagrams(network.port(Self.peer), stall: stall.served)
    var port = impaired.port()
    var batch = DatagramBatch(capacity: 1, size: 64)
    // An instant long gone: the stall ends at once, which is what makes this test quick.
    port.now = TickInstant(nanoseconds: 1)
    stall.ask(for: .milliseconds(5))
    #expect(stall.isActive)
    _ = port.receive(into: &batch)
    #expect(!stall.isActive)
    stall.ask(for: .milliseconds(5))
    stall.cancel()
    #expect(!stall.isActive)
  }
}
