import Leg
import Pump
import Robot
import RobotDaemon
import Sprinkler
import Tactus
import Testing

@testable import LegSwarm
@testable import PumpSwarm
@testable import RobotSwarm
@testable import SprinklerSwarm
@testable import TactusSwarm

/// The parts that systems bring: they hold, and each finds a daemon that lacks one of its safety mechanisms.
@Suite struct SwarmPartTests {
  private static let half = TickInstant.zero + .seconds(30)

  @Test("twenty seeds of all parts together: everything holds, and everything was looked at")
  func holds() throws {
    var run = SwarmRun(end: Self.half) { seed in
      [RobotSwarm(seed: seed), LegSwarm(seed: seed), try SprinklerSwarm(seed: seed), PumpSwarm(seed: seed)]
    }
    for seed in UInt64(1)...20 {
      let finding = try run.play(seed: seed)
      #expect(finding == nil)
    }
    let own = [RobotOracle.names, LegOracle.names, SprinklerOracle.names, PumpOracle.names]
    #expect(run.tally.rows.count == own.reduce(0) { $0 + SwarmOutput.count(own: $1.count) })
    for row in run.tally.rows { #expect(row.looks > 0, "\(row.part): \(row.invariant)") }
    for (part, state) in [("robot", "driving"), ("leg", "armed"), ("sprinkler", "watering"), ("pump", "on")] {
      #expect(run.tally.exercised[part]?["state \(state)", default: 0] ?? 0 > 0, "\(part): \(state)")
    }
  }

  @Test("a reload whose tighter limit the loop does not take is found: a robot, a leg, a pump")
  func reloadWithoutEffect() throws {
    let robot = try swarmFinding { [RobotSwarm(seed: $0, files: Array(repeating: .init(), count: 3))] }
    #expect(robot == RobotOracle.names[0])
    let leg = try swarmFinding { [LegSwarm(seed: $0, files: Array(repeating: .standard, count: 3))] }
    #expect(leg == LegOracle.names[0])
    let pump = try swarmFinding { [PumpSwarm(seed: $0, files: Array(repeating: PumpSwarm.settings, count: 3))] }
    #expect(pump == PumpOracle.names[0])
    let file = SprinklerSwarm.files[0]
    let sprinkler = try swarmFinding { [try SprinklerSwarm(seed: $0, files: [file, file, file])] }
    #expect(SprinklerFlowOracle.names.contains(sprinkler ?? "none"))
  }

  @Test("a stop in order that leaves an output on, or says of one that is on that it is off, is found")
  func stopThatLeavesOn() {
    func found(isActive: Bool, isConfirmed: Bool, isFaulty: Bool) -> String? {
      var output = SwarmOutput([], tick: .milliseconds(50))
      output.reach.bus(isFaulty: isFaulty, at: .zero)
      output.stopped(isActive: isActive, isConfirmed: isConfirmed, at: .zero + .seconds(1))
      return output.checks.failure?.invariant
    }
    let invariant = "an orderly stop leaves every output off"
    #expect(found(isActive: false, isConfirmed: true, isFaulty: false) == nil)
    #expect(found(isActive: true, isConfirmed: false, isFaulty: true) == nil)
    #expect(found(isActive: true, isConfirmed: false, isFaulty: false) == invariant)
    #expect(found(isActive: true, isConfirmed: true, isFaulty: true) == invariant)
  }

  // MARK: The guard

  private static let deadButOn =
    "a dead daemon's outputs are off as soon as the guard, or the stop hook, could turn them off"
  private static let unguarded = "without a guard every output is off"
  private static let parts: [(make: SwarmRun.MakeParts, heldOff: Set<String>)] = [
    ({ [RobotSwarm(seed: $0)] }, [RobotOracle.names[1]]), ({ [LegSwarm(seed: $0)] }, [LegOracle.names[2]]),
    // A loop that takes a valve for open which the guard has closed misses its water, too.
    (
      { [try SprinklerSwarm(seed: $0)] },
      Set([SprinklerOracle.names[0], SprinklerOracle.names[4]] + SprinklerFlowOracle.names)
    ),
    ({ [PumpSwarm(seed: $0)] }, [PumpOracle.names[2]]),
  ]

  @Test(
    "a guard that hangs and is not noticed, or not replaced, is found when the daemon dies", arguments: [0, 1, 2, 3])
  func guardThatHangs(part: Int) throws {
    let make = Self.parts[part].make
    let unnoticed = try #require(try swarmFinding(without: { $0.noticesHangs = false }, make))
    #expect([Self.deadButOn, Self.unguarded].contains(unnoticed))
    let unreplaced = try #require(try swarmFinding(without: { $0.replacesGuard = false }, make))
    // A loop that stands still is nobody's either.
    #expect([Self.deadButOn, Self.unguarded, RobotOracle.names[0]].contains(unreplaced))
  }

  @Test("guard and daemon killed at once, and nobody else who writes: found", arguments: [0, 1, 2, 3])
  func bothKilled(part: Int) throws {
    let found = try swarmFinding(without: { $0.hasStopHook = false }, Self.parts[part].make)
    #expect(found == Self.deadButOn)
  }

  @Test("a loop that is not told of the guard's write, and drives on: found", arguments: [0, 1, 2, 3])
  func drivesOn(part: Int) throws {
    let found = try #require(try swarmFinding(without: { $0.tellsLoops = false }, Self.parts[part].make))
    #expect(Self.parts[part].heldOff.contains(found))
  }

  @Test("an emergency stop that ends with the daemon is found", arguments: [0, 1, 2, 3])
  func stopThatEnds(part: Int) throws {
    let found = try #require(try swarmFinding(most: 600, without: { $0.keepsStops = false }, Self.parts[part].make))
    #expect(found == "an emergency stop holds until a reset, over kills and restarts")
  }

  @Test("a daemon that goes on without a guard is found", arguments: [0, 1, 2, 3])
  func goesOnUnguarded(part: Int) throws {
    // A zone is seldom open for long.
    let found = try swarmFinding(most: 600, without: { $0.stopsWithoutGuard = false }, Self.parts[part].make)
    #expect(found == Self.unguarded)
  }
}
