import Buses
import Tactus
import Testing

private let robot = Endpoint.ipv4(10, 0, 0, 1, port: 5005)
private let phone = Endpoint.ipv4(10, 0, 0, 2, port: 40_000)

/// What arrived: when it was drained, its first byte, its sender.
private struct Arrival: Hashable {
  var at: TickInstant
  var byte: UInt8
  var source: Endpoint
}

/// Sends bytes 0, 1, 2… every 10 ms from the phone and drains the robot at each arrival.
private func arrivals(
  of count: Int, over conditions: SimulatedNetwork.Conditions, seed: UInt64 = 1
) -> ([Arrival], SimulatedNetwork.Statistics) {
  let network = SimulatedNetwork([robot, phone], conditions: conditions, seed: seed)
  var sender = network.port(phone)
  for number in 0..<count {
    sender.now = milliseconds(Double(10 * number))
    send([UInt8(truncatingIfNeeded: number)], from: &sender)
  }
  let result = drain(network)
  return (result, network.statistics)
}

private func send(_ bytes: [UInt8], from port: inout DatagramPort, to target: Endpoint = robot) {
  let sent = bytes.withUnsafeBytes { port.send($0, to: target) }
  #expect(sent)
}

/// Drains the robot whenever its input says so, until nothing is in flight.
private func drain(_ network: SimulatedNetwork) -> [Arrival] {
  let input = network.input(robot)
  var port = network.port(robot)
  var batch = DatagramBatch(capacity: 4, size: 64)
  var result: [Arrival] = []
  while input.readyAt.pointee < .distantFuture {
    port.now = input.readyAt.pointee
    _ = port.receive(into: &batch)
    #expect(batch.count > 0)
    for index in 0..<batch.count {
      result.append(Arrival(at: port.now, byte: batch.bytes(index)![0], source: batch.source(index)))
    }
  }
  return result
}

@Suite struct SimulatedNetworkTests {
  @Test("perfect link: what is sent arrives at once, in order, with its sender")
  func perfect() {
    let (result, statistics) = arrivals(of: 20, over: .init())
    #expect(
      result == (0..<20).map { Arrival(at: milliseconds(Double(10 * $0)), byte: UInt8($0), source: phone) })
    #expect(statistics.sent == 20 && statistics.delivered == 20 && statistics.lost == 0)
  }

  @Test("delay 35 ms: nothing is there before, the input is ready at that instant, and idle after the drain")
  func delay() {
    var conditions = SimulatedNetwork.Conditions()
    conditions.delay = .milliseconds(35)
    let network = SimulatedNetwork([robot, phone], conditions: conditions)
    let input = network.input(robot)
    var sender = network.port(phone)
    var receiver = network.port(robot)
    var batch = DatagramBatch(capacity: 4, size: 64)
    #expect(input.readyAt.pointee == .distantFuture)
    sender.now = milliseconds(100)
    send([1], from: &sender)
    #expect(input.readyAt.pointee == milliseconds(135))
    receiver.now = milliseconds(134.999)
    #expect(!receiver.receive(into: &batch) && batch.count == 0)
    #expect(input.readyAt.pointee == milliseconds(135))
    receiver.now = milliseconds(135)
    #expect(!receiver.receive(into: &batch) && batch.count == 1)
    #expect(input.readyAt.pointee == .distantFuture)
  }

  @Test("batch full: the rest stays ready at once")
  func fullBatch() {
    let network = SimulatedNetwork([robot, phone])
    var sender = network.port(phone)
    sender.now = milliseconds(1)
    for byte in 0..<6 { send([UInt8(byte)], from: &sender) }
    var receiver = network.port(robot)
    receiver.now = milliseconds(50)
    var batch = DatagramBatch(capacity: 4, size: 64)
    #expect(receiver.receive(into: &batch) && batch.count == 4)
    #expect(network.input(robot).readyAt.pointee == milliseconds(1))
    #expect(!receiver.receive(into: &batch) && batch.count == 2)
    #expect(network.input(robot).readyAt.pointee == .distantFuture)
  }

  @Test("jitter alone: arrivals spread, the order is kept")
  func jitter() {
    var conditions = SimulatedNetwork.Conditions()
    conditions.delay = .milliseconds(5)
    conditions.jitter = .milliseconds(60)
    let (result, _) = arrivals(of: 200, over: conditions)
    #expect(result.map(\.byte) == (0..<200).map { UInt8($0) })
    let late = result.enumerated().map { $1.at - milliseconds(Double(10 * $0)) }
    #expect(late.allSatisfy { $0 >= .milliseconds(5) && $0 <= .milliseconds(65) })
    #expect(late.max()! - late.min()! > .milliseconds(30))
  }

  @Test("loss 250 ‰: about a quarter never arrives, the rest in order")
  func loss() {
    var conditions = SimulatedNetwork.Conditions()
    conditions.lossPerMille = 250
    let (result, statistics) = arrivals(of: 200, over: conditions)
    #expect((30...70).contains(statistics.lost), "\(statistics.lost)")
    #expect(Int64(result.count) == 200 - statistics.lost)
    #expect(result.map(\.byte) == result.map(\.byte).sorted())
  }

  @Test("duplication 1000 ‰: everything arrives twice")
  func duplication() {
    var conditions = SimulatedNetwork.Conditions()
    conditions.duplicationPerMille = 1000
    let (result, statistics) = arrivals(of: 50, over: conditions)
    #expect(result.map(\.byte) == (0..<50).flatMap { [UInt8($0), UInt8($0)] })
    #expect(statistics.duplicated == 50)
  }

  @Test("reordering 300 ‰: some are overtaken, none is lost")
  func reordering() {
    var conditions = SimulatedNetwork.Conditions()
    conditions.reorderingPerMille = 300
    conditions.reorderHold = .milliseconds(25)
    let (result, _) = arrivals(of: 200, over: conditions)
    #expect(result.map(\.byte) != result.map(\.byte).sorted())
    #expect(result.map(\.byte).sorted() == (0..<200).map { UInt8($0) })
  }

  @Test(
    "everything wrong at once: same seed, same arrivals; the counts add up", arguments: 1...5 as ClosedRange<UInt64>)
  func seeded(seed: UInt64) {
    var conditions = SimulatedNetwork.Conditions()
    conditions.delay = .milliseconds(3)
    conditions.jitter = .milliseconds(40)
    conditions.lossPerMille = 100
    conditions.duplicationPerMille = 100
    conditions.reorderingPerMille = 100
    let (first, statistics) = arrivals(of: 200, over: conditions, seed: seed)
    #expect(arrivals(of: 200, over: conditions, seed: seed).0 == first, "seed \(seed)")
    #expect(arrivals(of: 200, over: conditions, seed: seed + 1).0 != first, "seed \(seed)")
    #expect(statistics.sent + statistics.duplicated == statistics.delivered + statistics.lost, "seed \(seed)")
  }

  @Test("queue full: the newest are dropped and counted")
  func overflow() {
    let network = SimulatedNetwork([robot, phone], capacity: 8)
    var sender = network.port(phone)
    for byte in 0..<20 { send([UInt8(byte)], from: &sender) }
    #expect(drain(network).map(\.byte) == Array(0..<8))
    #expect(network.statistics.overflowed == 12)
    for byte in 0..<8 { send([UInt8(byte)], from: &sender) }
    #expect(drain(network).count == 8)
  }

  @Test("longer than the receiver's buffer: delivered as too long, with its true length")
  func tooLong() {
    let network = SimulatedNetwork([robot, phone])
    var sender = network.port(phone)
    send(Array(repeating: 1, count: 100), from: &sender)
    var receiver = network.port(robot)
    var batch = DatagramBatch(capacity: 4, size: 64)
    _ = receiver.receive(into: &batch)
    #expect(batch.count == 1 && batch.bytes(0) == nil && batch.source(0) == phone)
  }

  @Test("address of nobody: sent, and gone")
  func unreachable() {
    let network = SimulatedNetwork([robot, phone])
    var sender = network.port(phone)
    send([1], from: &sender, to: .ipv4(10, 0, 0, 3, port: 5005))
    #expect(network.statistics.unreachable == 1 && drain(network).isEmpty)
  }

  @Test("reply: goes back to the sender's own port")
  func reply() {
    let network = SimulatedNetwork([robot, phone])
    var sender = network.port(phone)
    var receiver = network.port(robot)
    var batch = DatagramBatch(capacity: 4, size: 64)
    send([1], from: &sender)
    _ = receiver.receive(into: &batch)
    send([2], from: &receiver, to: batch.source(0))
    _ = sender.receive(into: &batch)
    #expect(batch.count == 1 && batch.source(0) == robot && batch.bytes(0)![0] == 2)
  }

  @Test(
    "sends and drains in any order: every datagram arrives whole and once, and never before a drain could see it",
    arguments: 1...5 as ClosedRange<UInt64>)
  func order(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var conditions = SimulatedNetwork.Conditions()
    conditions.reorderingPerMille = 500
    let network = SimulatedNetwork([robot, phone], conditions: conditions, seed: seed, capacity: 64)
    var sender = network.port(phone)
    var receiver = network.port(robot)
    var batch = DatagramBatch(capacity: 16, size: 64)
    var arrived: [Int] = []
    for step in 0..<2100 {
      sender.now = milliseconds(Double(step))
      receiver.now = milliseconds(Double(step))
      conditions.reorderHold = .milliseconds(Int64(random.below(60)))
      network.conditions = conditions
      if step < 2000, random.chance(perMille: 500) {
        send([UInt8(step & 255), UInt8(step >> 8)] + Array(repeating: 0xA5, count: step % 60), from: &sender)
      }
      guard random.chance(perMille: 300) || step > 2060 else { continue }
      let wasReady = network.input(robot).readyAt.pointee <= receiver.now
      _ = receiver.receive(into: &batch)
      #expect(wasReady == (batch.count > 0), "seed \(seed)")
      for index in 0..<batch.count {
        let bytes = Array(batch.bytes(index)!)
        let number = Int(bytes[0]) | Int(bytes[1]) << 8
        #expect(bytes.count == 2 + number % 60 && bytes.dropFirst(2).allSatisfy { $0 == 0xA5 }, "seed \(seed)")
        arrived.append(number)
      }
    }
    #expect(Set(arrived).count == arrived.count, "seed \(seed)")
    #expect(Int64(arrived.count) == network.statistics.sent - network.statistics.overflowed, "seed \(seed)")
    #expect(network.input(robot).readyAt.pointee == .distantFuture, "seed \(seed)")
  }
}
