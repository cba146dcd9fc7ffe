import Leg
import Pump
import Robot
import Tactus
import Testing

@testable import LegDaemon
@testable import PumpDaemon
@testable import RobotDaemon
@testable import SprinklerDaemon
@testable import TactusDaemon

/// The parts that systems bring: they hold, and each finds a daemon that lacks one of its safety mechanisms.
@Suite struct SwarmPartTests {
  private static let half = TickInstant.zero + .seconds(30)

  /// How many seeds it takes to find a failure, and of what; `nil` if 60 do not.
  private func seeds(_ make: @escaping SwarmRun.MakeParts) throws -> (count: UInt64, invariant: String)? {
    var run = SwarmRun(end: Self.half, make)
    for seed in UInt64(1)...60 {
      if let finding = try run.play(seed: seed) { return (seed, finding.failure.failure.invariant) }
    }
    return nil
  }

  @Test("ten seeds of all parts together: everything holds, and everything was looked at")
  func holds() throws {
    var run = SwarmRun(end: Self.half) { seed in
      [RobotSwarm(seed: seed), LegSwarm(seed: seed), try SprinklerSwarm(seed: seed), PumpSwarm(seed: seed)]
    }
    for seed in UInt64(1)...10 {
      let finding = try run.play(seed: seed)
      #expect(finding == nil)
    }
    #expect(
      run.tally.rows.count == RobotOracle.names.count + LegOracle.names.count + SprinklerOracle.names.count
        + PumpOracle.names.count)
    for row in run.tally.rows { #expect(row.looks > 0, "\(row.part): \(row.invariant)") }
  }

  @Test("a robot whose failsafe waits for ten seconds is found")
  func robotWithoutFailsafe() throws {
    let settings = try RobotSettings(failsafeTimeout: .seconds(10))
    let found = try seeds { [RobotSwarm(seed: $0, settings: settings)] }
    #expect(found?.invariant == RobotOracle.names[0])
  }

  @Test("a leg whose deadman waits for ten seconds is found")
  func legWithoutDeadman() throws {
    let settings = try LegSettings(deadmanTimeout: .seconds(10))
    let found = try seeds { [LegSwarm(seed: $0, settings: settings)] }
    #expect(found?.invariant == LegOracle.names[0])
  }

  @Test("a pump without a run limit is found, and so is one whose limit begins anew with every start")
  func pumpWithoutLimit() throws {
    let unlimited = try PumpDeviceSettings(runLimit: .seconds(86_400))
    let found = try seeds { [PumpSwarm(seed: $0, settings: unlimited)] }
    #expect(found?.invariant == PumpOracle.names[0])
    let restless = try PumpDeviceSettings(runLimit: .seconds(8), rest: .zero)
    let second = try seeds { [PumpSwarm(seed: $0, settings: restless)] }
    #expect(second?.invariant == PumpOracle.names[0])
  }

  @Test("a sprinkler's store that only says that it has kept something is found")
  func storeThatForgets() throws {
    let found = try seeds { [try SprinklerSwarm(seed: $0, forgets: true)] }
    #expect(found?.invariant == SprinklerOracle.names[4] || found?.invariant == SprinklerOracle.names[5])
  }
}
