import Tactus
import Testing

@testable import LegDaemon
@testable import PlantsDaemon
@testable import PumpDaemon
@testable import RobotDaemon
@testable import SprinklerDaemon
@testable import TactusDaemon
@testable import TactusSwarm

/// Every declared system, ours and a stranger's, under random clients and faults: recorded, and replayed by a program of its own.
@Suite("recorded systems") struct RecordedSystemTests {
  private static let end = TickInstant.zero + .seconds(60)

  /// Plays a history of the swarm, and returns what was recorded.
  private func record<System: DeviceSystem>(
    _ configured: ConfiguredSystem<System>, seed: UInt64, bytes: Int
  ) throws -> Recording {
    let system = try SimulatedSystem(configured, seed: seed, recorder: Recorder(bytesPerLane: bytes))
    var planner = SwarmPlanner(System.name, until: Self.end, SplitMix64(seed: seed))
    DeclaredSwarmPlan<System>.plan(&planner, faults: configured.plan.faults.count)
    for action in planner.actions.sorted(by: { $0.at < $1.at }) where action.at < Self.end {
      system.simulation.run(until: action.at)
      system.takeAnswers(at: action.at)
      switch action.verb {
      case "call":
        guard let call = DeclaredSwarmPlan<System>.call(action), let order = try? system.order(call.word, call.body)
        else { continue }
        system.send(order.order, makesSafe: order.makesSafe, at: action.at) { _ in }
      case "ask-e-stop": system.send(System.emergencyStop, makesSafe: true, at: action.at) { _ in }
      case "ask-reset": system.send(System.reset, makesSafe: false, at: action.at) { _ in }
      case "fault": system.setFault(Int(action[0]), action[1] > 0)
      case "outputs-refuse": system.bench.refuse(action[0] > 0)
      case "stall":
        system.simulation.stall(loop: system.loopName, at: action.at, by: .milliseconds(action[0]))
      default: continue
      }
    }
    system.simulation.run(until: Self.end)
    system.simulation.stop()
    return try #require(system.recording)
  }

  private func check<System: DeviceSystem>(_: System.Type, _ wiring: System.Wiring = .init()) throws {
    let configured = try ConfiguredSystem<System>(wiring)
    // All of it, and as much as there is little room for: that begins in the middle.
    for (seed, bytes) in [(UInt64(1), 256 << 20), (2, 256 << 20), (3, 0), (4, 0), (5, 0)] {
      let recording = try Recording(bytes: record(configured, seed: seed, bytes: bytes).bytes)
      let again = try #require(try configured.openForReplay())
      let lane = again.lane(bell: try Doorbell().button).only(recording.loopNames(of: System.name))
      let replayed = try Runtime { lane }.replay(recording)
      #expect(replayed.differences == [], "\(System.name), seed \(seed)")
      #expect(replayed.ticks > 10, "\(System.name), seed \(seed)")
    }
  }

  @Test func robot() throws { try check(Robot.self) }
  @Test func leg() throws { try check(Legs.self) }
  @Test func sprinkler() throws { try check(Sprinkler.self) }
  @Test func pump() throws { try check(Pump.self) }
  @Test func plants() throws { try check(Plants.self) }
  @Test("a stranger's") func lamp() throws { try check(Lamp.self) }
}
