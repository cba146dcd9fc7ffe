import Buses
import Devices
import Foundation
import NIOCore
import Robot
import ServiceSupport
import Synchronization
import Tactus
import Testing

@testable import RobotDaemon
@testable import Service
@testable import TactusDaemon

/// A robot's lane in simulated time with the door before it; the test is the clock, the beat and the clients.
final class RobotDoorBench {
  static let robot = Endpoint.ipv4(10, 0, 0, 1, port: 5005)
  static let phone = Endpoint.ipv4(10, 0, 0, 2, port: 50_000)

  let door: HostedDoor<Robot>
  let network = SimulatedNetwork([robot, phone])
  let bus = SimulatedI2CBus()
  private let board = YBPcbCarSimulator()
  private let bell = SimulatedInput()
  private let mailbox: RobotLoop.Mailbox
  private let runtime: Runtime
  private let simulation: Simulation
  private let clock = Clock()
  /// Rings from the door, of any thread; they reach the simulated bell when the test asks for them.
  private var rings: AsyncStream<Void>.Iterator
  var notices: RingReader<Told<RobotNotice>>
  private var seen: Int64 = 0

  private final class Clock: Sendable {
    let nanoseconds = Atomic<Int64>(0)
    var now: TickInstant { TickInstant(nanoseconds: nanoseconds.load(ordering: .acquiring)) }
  }

  init() throws {
    let settings = try RobotSettings(acceleration: 0)
    let (network, bus) = (network, bus)
    bus.attach(board.chip, at: YBPcbCar.standardAddress)
    let mailbox = try RobotLoop.Mailbox(state: RobotSnapshot(settings), rules: settings)
    let bell = bell
    // No safe state after missed releases: what protects here must be the rule that is tested.
    runtime = try Runtime {
      Lane("robot") {
        Loop(
          "robot", every: .hertz(20), phase: .zero, inputs: [.simulated(network.input(Self.robot)), .simulated(bell)]
        ) {
          RobotLoop(
            ends: mailbox.loopEnds(requestBell: bell.doorbell), motors: Motors(YBPcbCar(), on: bus.port()),
            port: network.port(Self.robot))
        }
      }
    }
    self.mailbox = mailbox
    notices = mailbox.noticeReader()
    simulation = try runtime.simulation()
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    rings = stream.makeAsyncIterator()
    door = HostedDoor(
      mailbox, at: Robot.onlyPlace, beside: nil, ring: { continuation.yield() }, now: { [clock] in clock.now })
  }

  var now: TickInstant { clock.now }
  var robot: RobotSnapshot {
    var reader = mailbox.state.reader()
    return reader.read().state
  }

  /// Runs the lane up to this millisecond, then a beat.
  func run(until milliseconds: Int64) {
    simulation.run(until: TickInstant(nanoseconds: milliseconds * 1_000_000))
    clock.nanoseconds.store(milliseconds * 1_000_000, ordering: .releasing)
    takeAnswers()
  }

  /// The main thread's beat.
  func takeAnswers() { door.requests.takeAnswers(at: now) }

  /// The lane stands still from its next tick on, for so long.
  func stall(milliseconds: Int64) {
    simulation.stall(loop: "robot", at: now, by: .milliseconds(milliseconds))
  }

  /// Waits for the door to ring the robot's loop once.
  func rung(isolation: isolated (any Actor)? = #isolation) async {
    _ = await rings.next(isolation: isolation)
    bell.ring(at: now)
  }

  func handler(_ path: String) throws -> @Sendable (APIRequest) async throws -> APIResponse {
    let route = try #require(door.routes.first { $0.path == "/api/robot/\(path)" })
    guard case .handler(let handler) = route.handling else { throw CancellationError() }
    return handler
  }

  /// A request under way: it has been handed to the loop.
  func post(
    _ path: String, _ body: String = "", from caller: Caller = .one, isolation: isolated (any Actor)? = #isolation
  ) async throws -> Task<APIResponse, any Error> {
    let handler = try handler(path)
    let task = Task { try await handler(APIRequest(caller: caller, body: Array(body.utf8))) }
    await rung()
    return task
  }

  /// A binary frame, and what was answered when the loop has taken it.
  func frame(
    _ text: String, from caller: Caller = .one, isolation: isolated (any Actor)? = #isolation
  ) async -> Outcomes {
    let outcomes = Outcomes()
    #expect(door.receive(frame: Array(text.utf8), from: caller) { outcomes.append($0) })
    await rung()
    return outcomes
  }

  func udp(_ text: String) {
    var port = network.port(Self.phone)
    port.now = now
    Array(text.utf8).withUnsafeBytes { _ = port.send($0, to: Self.robot) }
  }

  /// What the motors have been told since the last call: `stop`, `run L R` in duties.
  func writes() -> [String] {
    let new = bus.transactions(since: seen)
    seen = (new.last?.sequence ?? seen - 1) + 1
    return new.map { transaction in
      if transaction.register == 2 { return "stop" }
      let bytes = transaction.bytes
      return "run \(Int(bytes[1]) * (bytes[0] == 1 ? 1 : -1)) \(Int(bytes[3]) * (bytes[2] == 1 ? 1 : -1))"
    }
  }

  func document() throws -> [String: Any] {
    guard case .prepared(let document) = try #require(door.routes.first { $0.path == "/api/robot" }).handling
    else { throw CancellationError() }
    return try #require(
      try JSONSerialization.jsonObject(with: Data(document.bytes.readableBytesView)) as? [String: Any])
  }
}
