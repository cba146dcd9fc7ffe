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

  /// How many seeds it takes to find a failure, and of what; `nil` if `most` do not.
  private func seeds(
    most: UInt64 = 150, without take: (inout SwarmMechanisms) -> Void = { _ in }, _ make: @escaping SwarmRun.MakeParts
  ) throws -> (count: UInt64, invariant: String)? {
    var mechanisms = SwarmMechanisms()
    take(&mechanisms)
    var run = SwarmRun(end: Self.half, mechanisms: mechanisms, make)
    for seed in 1...most {
      if let finding = try run.play(seed: seed) { return (seed, finding.failure.failure.invariant) }
    }
    return nil
  }

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

  @Test("a pump's OFF and ON of before the guard's stop, read after it: it stays off, and an ON alone turns nothing on")
  func linesOfBeforeAStop() throws {
    let history = """
      seed 706
      end 12.000000000
      5.489000000 pump line-on
      6.247000000 daemon freeze 2489
      6.260000000 pump line-off
      6.270000000 pump line-on
      9.113000000 pump line-on
      """
    var run = SwarmRun(end: Self.half) { [PumpSwarm(seed: $0)] }
    #expect(try run.play(SwarmHistory(text: history + "\n")) == nil)
  }

  @Test("an emergency stop holds over a daemon that ends in the instant of its start")
  func stopOverAShortLife() throws {
    let history = """
      seed 1
      end 6.000000000
      1.000000000 daemon estop
      2.000000000 daemon kill 500
      2.500000000 daemon stop 300
      4.000000000 robot drive 0 50 50 0
      4.100000000 robot drive 0 50 50 100
      """
    var run = SwarmRun(end: Self.half) { [RobotSwarm(seed: $0)] }
    #expect(try run.play(SwarmHistory(text: history + "\n")) == nil)
  }

  @Test("a robot whose failsafe waits for ten seconds is found")
  func robotWithoutFailsafe() throws {
    let found = try seeds { [RobotSwarm(seed: $0, files: [Robot.Rules(commandTimeoutSeconds: 10)])] }
    #expect(found?.invariant == RobotOracle.names[0])
  }

  @Test("a leg whose deadman waits for ten seconds is found")
  func legWithoutDeadman() throws {
    let settings = try LegSettings(deadmanTimeout: .seconds(10))
    let found = try seeds { [LegSwarm(seed: $0, files: [settings])] }
    #expect(found?.invariant == LegOracle.names[0])
  }

  @Test("a pump without a run limit is found, and so is one whose limit begins anew with every start")
  func pumpWithoutLimit() throws {
    let unlimited = try PumpDeviceSettings(runLimit: .seconds(86_400))
    let found = try seeds { [PumpSwarm(seed: $0, files: [unlimited])] }
    #expect(found?.invariant == PumpOracle.names[0])
    let restless = try PumpDeviceSettings(runLimit: .seconds(8), rest: .zero)
    let second = try seeds { [PumpSwarm(seed: $0, files: [restless])] }
    #expect(second?.invariant == PumpOracle.names[0])
  }

  @Test("a reload whose tighter limit the loop does not take is found: a robot, a leg, a pump")
  func reloadWithoutEffect() throws {
    let robot = try seeds { [RobotSwarm(seed: $0, files: Array(repeating: .init(), count: 3))] }
    #expect(robot?.invariant == RobotOracle.names[0])
    let leg = try seeds { [LegSwarm(seed: $0, files: Array(repeating: .standard, count: 3))] }
    #expect(leg?.invariant == LegOracle.names[0])
    let pump = try seeds { [PumpSwarm(seed: $0, files: Array(repeating: PumpSwarm.settings, count: 3))] }
    #expect(pump?.invariant == PumpOracle.names[0])
    let file = SprinklerSwarm.files[0]
    let sprinkler = try seeds { [try SprinklerSwarm(seed: $0, files: [file, file, file])] }
    #expect(SprinklerFlowOracle.names.contains(sprinkler?.invariant ?? "none"))
  }

  @Test("a sprinkler whose flow sensor says nothing, or whose limits never act, is found")
  func flowWithoutLimits() throws {
    let deaf = try seeds { [try SprinklerSwarm(seed: $0, hasSensor: false)] }
    #expect(deaf?.invariant == SprinklerFlowOracle.names[0])
    let lax = FlowLimits(
      noFlow: SprinklerSwarm.files[0].noFlow, highFlow: SprinklerSwarm.files[2].highFlow, leak: nil)
    let found = try seeds { [try SprinklerSwarm(seed: $0, files: [lax, lax, lax])] }
    #expect(SprinklerFlowOracle.names.contains(found?.invariant ?? "none"))
  }

  @Test("a sprinkler's store that only says that it has kept something is found")
  func storeThatForgets() throws {
    let found = try seeds { [try SprinklerSwarm(seed: $0, forgets: true)] }
    #expect(found?.invariant == SprinklerOracle.names[2] || found?.invariant == SprinklerOracle.names[3])
  }

  @Test("a stop in order that forgets when valves closed whose store is full is found")
  func stopThatForgets() throws {
    let found = try seeds(most: 1_500, without: { $0.notesUnkept = false }, { [try SprinklerSwarm(seed: $0)] })
    #expect(found?.invariant == SprinklerOracle.names[4])
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
    let unnoticed = try #require(try seeds(without: { $0.noticesHangs = false }, make)).invariant
    #expect([Self.deadButOn, Self.unguarded].contains(unnoticed))
    let unreplaced = try #require(try seeds(without: { $0.replacesGuard = false }, make)).invariant
    // A loop that stands still is nobody's either.
    #expect([Self.deadButOn, Self.unguarded, RobotOracle.names[0]].contains(unreplaced))
  }

  @Test("guard and daemon killed at once, and nobody else who writes: found", arguments: [0, 1, 2, 3])
  func bothKilled(part: Int) throws {
    let found = try seeds(without: { $0.hasStopHook = false }, Self.parts[part].make)
    #expect(found?.invariant == Self.deadButOn)
  }

  @Test("a loop that is not told of the guard's write, and drives on: found", arguments: [0, 1, 2, 3])
  func drivesOn(part: Int) throws {
    let found = try #require(try seeds(without: { $0.tellsLoops = false }, Self.parts[part].make))
    #expect(Self.parts[part].heldOff.contains(found.invariant))
  }

  @Test("an emergency stop that ends with the daemon is found", arguments: [0, 1, 2, 3])
  func stopThatEnds(part: Int) throws {
    let found = try #require(try seeds(most: 600, without: { $0.keepsStops = false }, Self.parts[part].make))
    #expect(found.invariant == "an emergency stop holds until a reset, over kills and restarts")
  }

  @Test("a daemon that goes on without a guard is found", arguments: [0, 1, 2, 3])
  func goesOnUnguarded(part: Int) throws {
    // A zone is seldom open for long.
    let found = try seeds(most: 600, without: { $0.stopsWithoutGuard = false }, Self.parts[part].make)
    #expect(found?.invariant == Self.unguarded)
  }
}
