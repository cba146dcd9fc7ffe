import Buses
import Foundation
import Pump
import ServiceSupport
import Synchronization
import Tactus
import Testing
import WallTime

@testable import PumpDaemon
@testable import Service
@testable import TactusDaemon

/// A pump, the line to it, its operator's lane and the door before it, in simulated time; the test is the clock and the clients.
final class PumpDoorBench {
  let door: HostedDoor<Pump>
  let world = PumpWorld()
  let cable = PumpCable()
  private let bell = SimulatedInput()
  private let runtime: Runtime
  private let simulation: Simulation
  private let clock = Clock()
  /// Rings from the door, of any thread; they reach the simulated bell when the test asks for them.
  private var rings: AsyncStream<Void>.Iterator
  var notices: RingReader<Told<PumpNotice>>

  private final class Clock: Sendable {
    let nanoseconds = Atomic<Int64>(0)
    var now: TickInstant { TickInstant(nanoseconds: nanoseconds.load(ordering: .acquiring)) }
  }

  init() throws {
    let (mailbox, device) = (try PumpMailbox(operating: .standard), try PumpMailbox(own: .standard))
    let (world, cable, bell) = (world, cable, bell)
    runtime = try Runtime {
      Lane("device") {
        Loop("device", every: PumpDeviceLoop.rate, phase: .zero, inputs: [.simulated(cable.deviceInput)]) {
          PumpDeviceLoop(
            device.loopEnds(), link: PumpLink(serial: cable.devicePort()), motor: world.motor(),
            inputs: world.inputs())
        }
      }
      Lane("pump") {
        Loop(
          "pump", every: PumpOperatorLoop.rate, phase: .milliseconds(3),
          inputs: [.simulated(cable.operatorInput), .simulated(bell)]
        ) {
          PumpOperatorLoop(
            mailbox.loopEnds(requestBell: bell.doorbell), link: PumpLink(serial: cable.operatorPort()))
        }
      }
    }
    notices = mailbox.noticeReader()
    simulation = try runtime.simulation()
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    rings = stream.makeAsyncIterator()
    let parts = SharedParts()
    parts.add(PumpLinkReports { [PumpLinkReport(.serial, device: "/dev/ttyTEST")] })
    door = HostedDoor(
      mailbox, at: Pump.onlyPlace, beside: nil,
      look: { Look(name: "pump", wiring: .init(), rules: .init(), now: $0, parts: parts) },
      ring: { continuation.yield() }, now: { [clock] in clock.now })
    run(for: 2_000)
  }

  var now: TickInstant { clock.now }

  func run(for milliseconds: Int64) {
    let end = clock.now + .milliseconds(milliseconds)
    simulation.run(until: end)
    clock.nanoseconds.store(end.nanoseconds, ordering: .releasing)
    door.requests.takeAnswers(at: now)
  }

  var newest: PumpSnapshot { door.newest.operated! }
  var state: PumpOperatorState { newest.state }

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
