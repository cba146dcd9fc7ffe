import Buses
import BusesLinux
import Service
import Tactus
import Testing

@testable import TactusDaemon

/// A device that counts the bytes of its datagrams.
private enum Ear: DeviceSystem {
  static let name = "ear"
  static let summary = "An ear."
  static let initialState = State()
  static let emergencyStop = Order.hold
  static func isEmergencyStopped(_ state: State) -> Bool { false }
  static let reset = Order.hold
  static let nothingToReset: Refusal? = nil
  static let whenClientLeaves: Order? = nil
  typealias Rules = NoSettings
  typealias Refusal = NoRefusal

  struct Wiring: Settings {
    var port: UInt16 = 5020

    static var keys: [Key<Wiring>] { Key("port", \.port, in: 0...65535, "Its UDP port.") }
  }
  struct State: BitwiseCopyable, Sendable { var heard = 0 }
  enum Order: BitwiseCopyable, Sendable { case hold }
  enum Notice: String, NoticeWord {
    case none
    var isTrouble: Bool { false }
    var sentence: String { "nothing" }
  }

  static var fields: [Field<State>] { Field("heard", \.heard, kind: .counter, "Bytes.") }
  static var commands: [Command<Order>] { Command("hold", makesSafe: true, "Does nothing.") { .hold } }

  static func loops(_ bench: Bench<Wiring>, _ mailbox: Inbox) throws -> [Loop] {
    let (first, second) = (try bench.datagrams(\.port), try bench.datagrams(\.port, plus: 1))
    return [
      mailbox.loop("ear", every: .hertz(1), safeStateAfter: 5, inputs: [first.loopInput, second.loopInput]) {
        EarLoop(ends: $0, port: first.port())
      }
    ]
      + (first.hasPeer
        ? bench.twin("ear.simulated", every: .hertz(10)) { MouthTwin(first.peer(), first.endpoint) } : [])
  }
}

private struct EarLoop: ~Copyable, ControlLoop {
  var ends: Ear.Ends
  var port: DatagramPort
  var batch = DatagramBatch(capacity: 8, size: 64)
  var state = Ear.State()

  init(ends: consuming Ear.Ends, port: consuming DatagramPort) {
    self.ends = ends
    self.port = port
  }

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    ends.begin(tick)
    port.now = tick.started
    _ = port.receive(into: &batch)
    for index in 0..<batch.count { state.heard &+= batch.length(index) }
    ends.finish(state, isSafe: true)
  }

  @_noLocks @_noAllocation
  mutating func safeState(_ tick: Tick, cause: SafeStateCause) {}
}

/// Says three bytes, ten times a second.
private struct MouthTwin: ~Copyable, ControlLoop, NoOutput {
  var port: DatagramPort
  let to: Endpoint
  let bytes: UnsafeMutableRawBufferPointer

  init(_ port: consuming DatagramPort, _ to: Endpoint) {
    self.port = port
    self.to = to
    bytes = .allocate(byteCount: 3, alignment: 1)
    bytes.initializeMemory(as: UInt8.self, repeating: 7)
  }

  deinit { bytes.deallocate() }

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    port.now = tick.started
    _ = port.send(UnsafeRawBufferPointer(bytes), to: to)
  }
}

@Suite("UDP ports of a bench")
struct DatagramTests {
  @Test("each port is claimed, with the key that names it; one that takes any free port is not")
  func claims() throws {
    let claims = try ConfiguredSystem<Ear>().claims
    #expect(claims.map { "\($0.resource)" } == ["UDP port 5020", "UDP port 5021"])
    #expect(claims.allSatisfy { $0.key == "ear.port" })
    let free = try ConfiguredSystem<Ear>(Ear.Wiring(port: 0))
    #expect(free.claims.isEmpty && free.isOpenToAll)
  }

  @Test("in simulated time a twin is at the other end, and a datagram releases the loop")
  func simulated() throws {
    let system = try HostedSystem(ConfiguredSystem<Ear>(), simulate: true, bell: nil, clock: .tick, now: { .zero })
    let lane = system.lane
    let simulation = try Runtime { lane }.simulation()
    simulation.run(for: .milliseconds(550))
    // The loop's own period is a second.
    #expect(system.door.newest.heard >= 12, "\(system.door.newest.heard)")
    simulation.stop()
  }

  @Test("simulated on the machine's clock: a socket where the file says, behind a network that can be made bad")
  func impaired() throws {
    let configured = try ConfiguredSystem<Ear>(Ear.Wiring(port: 0))
    let parts = BenchParts(.simulated, of: Ear.self, address: "127.0.0.1")
    let bench = Bench(configured.wiring, parts)
    let (first, second) = (try bench.datagrams(\.port), try bench.datagrams(\.port, plus: 1))
    #expect(parts.simulation.map(\.name) == ["ear-udp", "ear-udp-1"])
    #expect(parts.endpoints == [first.endpoint, second.endpoint] && first.endpoint.port > 0)
    #expect(first.endpoint.port != second.endpoint.port)
    let sender = try LinuxDatagramSocket(address: "127.0.0.1", port: 0)
    var outbox = sender.port()
    var inbox = first.port()
    let isSent = [UInt8](repeating: 7, count: 5).withUnsafeBytes { outbox.send($0, to: first.endpoint) }
    #expect(isSent)
    var batch = DatagramBatch(capacity: 8, size: 64)
    _ = inbox.receive(into: &batch)
    #expect(batch.count == 1 && batch.length(0) == 5)
    withExtendedLifetime(sender) {}
  }

  @Test("a real port that another program has: the error names the key")
  func taken() throws {
    let owner = try LinuxDatagramSocket(address: "127.0.0.1", port: 0)
    let wiring = Ear.Wiring(port: owner.localEndpoint.port)
    let bench = Bench(wiring, BenchParts(.real, of: Ear.self, address: "127.0.0.1"))
    let error = try #require(throws: BenchError.self) { try bench.datagrams(\.port) }
    #expect("\(error)".hasPrefix("ear.port: "), "\(error)")
    withExtendedLifetime(owner) {}
  }
}
