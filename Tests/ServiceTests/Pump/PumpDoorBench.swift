import Buses
import Foundation
import Pump
import Synchronization
import Tactus
import Testing
import WallTime

@testable import PumpDaemon
@testable import Service

/// A pump, the line to it, its operator's lane and the door before it, in simulated time; the test is the clock and the clients.
final class PumpDoorBench {
  let door: PumpDoor
  let world = PumpWorld()
  let cable = PumpCable()
  private let bell = SimulatedInput()
  private let runtime: Runtime
  private let simulation: Simulation
  private let clock = Clock()
  /// Rings from the door, of any thread; they reach the simulated bell when the test asks for them.
  private var rings: AsyncStream<Void>.Iterator
  var notices: RingReader<PumpNotice>

  private final class Clock: Sendable {
    let nanoseconds = Atomic<Int64>(0)
    var now: TickInstant { TickInstant(nanoseconds: nanoseconds.load(ordering: .acquiring)) }
  }

  init() throws {
    let (channel, deviceChannel) = (PumpOperatorLoop.channel(), PumpDeviceLoop.channel())
    let (world, cable, bell) = (world, cable, bell)
    runtime = try Runtime {
      Lane("device") {
        Loop("device", every: PumpDeviceLoop.rate, phase: .zero, inputs: [.simulated(cable.deviceInput)]) {
          PumpDeviceLoop(
            RulesBox(.standard).input(), link: PumpLink(serial: cable.devicePort()), motor: world.motor(),
            inputs: world.inputs(), channel: deviceChannel.loopEnds())
        }
      }
      Lane("pump") {
        Loop(
          "pump", every: PumpOperatorLoop.rate, phase: .milliseconds(3),
          inputs: [.simulated(cable.operatorInput), .simulated(bell)]
        ) {
          PumpOperatorLoop(
            RulesBox(.standard).input(), link: PumpLink(serial: cable.operatorPort()),
            channel: channel.loopEnds(requestBell: bell.doorbell))
        }
      }
    }
    notices = channel.noticeReader()
    simulation = try runtime.simulation()
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    rings = stream.makeAsyncIterator()
    door = PumpDoor(
      channel: channel, link: { PumpLinkReport(.serial, device: "/dev/ttyTEST") }, ring: { continuation.yield() },
      now: { [clock] in clock.now })
    run(for: 2_000)
  }

  var now: TickInstant { clock.now }

  func run(for milliseconds: Int64) {
    let end = clock.now + .milliseconds(milliseconds)
    simulation.run(until: end)
    clock.nanoseconds.store(end.nanoseconds, ordering: .releasing)
    door.takeAnswers(at: now)
  }

  var state: PumpOperatorState { door.newest.state }

  /// A request, and what came of it some milliseconds later.
  func post(
    _ word: String, _ body: String = "", rings: Int = 1, isolation: isolated (any Actor)? = #isolation
  ) async throws -> APIResponse {
    let routes = door.routes
    let task = Task { try await routes.answer(.post, "/api/pump/\(word)", body: body) }
    for _ in 0..<rings {
      _ = await self.rings.next(isolation: isolation)
      bell.ring(at: now)
      run(for: 20)
    }
    return try await task.value
  }

  /// The refusal of a request; nil: it was obeyed.
  func refusal(
    _ word: String, _ body: String = "", rings: Int = 1, isolation: isolated (any Actor)? = #isolation
  ) async -> APIError? {
    do {
      _ = try await post(word, body, rings: rings, isolation: isolation)
      return nil
    } catch {
      return error as? APIError
    }
  }

  func document() throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(door.state)) as? [String: Any])
  }
}
