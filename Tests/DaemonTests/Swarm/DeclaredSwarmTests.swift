import Tactus
import Testing

@testable import TactusDaemon

/// What every declared system has of the swarm by its declaration alone.
@Suite struct DeclaredSwarmTests {
  private static let end = TickInstant.zero + .seconds(30)

  private func found(most: UInt64 = 300, without take: (inout SwarmMechanisms) -> Void) throws -> String? {
    var mechanisms = SwarmMechanisms()
    take(&mechanisms)
    var run = SwarmRun(end: Self.end, mechanisms: mechanisms) { [try DeclaredSwarm<Lamp>(seed: $0)] }
    for seed in 1...most {
      if let finding = try run.play(seed: seed) { return finding.failure.failure.invariant }
    }
    return nil
  }

  @Test("forty seeds: everything holds, everything was looked at, and a history says the same again")
  func holds() throws {
    var run = SwarmRun(end: Self.end) { [try DeclaredSwarm<Lamp>(seed: $0)] }
    for seed in UInt64(1)...40 {
      let finding = try run.play(seed: seed)
      #expect(finding == nil)
    }
    #expect(run.tally.rows.count == SwarmOutput.count(own: DeclaredOracle.names.count))
    for row in run.tally.rows { #expect(row.looks > 0, "\(row.invariant)") }
    let history = try run.history(of: 3)
    #expect(try SwarmHistory(text: "\(history)") == history)
  }

  @Test("each mechanism that the daemon has for a stranger's outputs is missed")
  func mechanisms() throws {
    let deadButOn = "a dead daemon's outputs are off as soon as the guard, or the stop hook, could turn them off"
    let unhooked = try found { $0.hasStopHook = false }
    #expect(unhooked == deadButOn)
    let unguarded = try found { $0.stopsWithoutGuard = false }
    #expect(unguarded == "without a guard every output is off")
    let forgotten = try found { $0.keepsStops = false }
    #expect(forgotten == "an emergency stop holds until a reset, over kills and restarts")
    let untold = try found { $0.tellsLoops = false }
    #expect(untold == DeclaredOracle.names[0])
  }

  @Test("a request that nobody answers, one that is answered twice, a value out of range that is taken: each is seen")
  func oracle() {
    func failure(_ break: (inout DeclaredOracle) -> Void) -> String? {
      var oracle = DeclaredOracle(period: .milliseconds(50))
      `break`(&oracle)
      return oracle.output.checks.failure?.invariant
    }
    func told(_ number: UInt64) -> DeclaredAnswers.Told {
      DeclaredAnswers.Told(number: number, kind: .command, makesSafe: false, outcome: .accepted)
    }
    let later = TickInstant.zero + .seconds(2)
    let unanswered = failure {
      $0.asked(1, at: .zero)
      $0.lookAtWaiting(at: later)
    }
    #expect(unanswered == DeclaredOracle.names[2])
    let twice = failure {
      $0.asked(1, at: .zero)
      $0.answered(told(1), at: .zero)
      $0.answered(told(1), at: .zero)
    }
    #expect(twice == "every request is answered once, in order")
    let outOfRange = failure { $0.read(isInRange: false, isTaken: true, "shine", at: .zero) }
    #expect(outOfRange == DeclaredOracle.names[1])
    let answered = failure {
      $0.asked(1, at: .zero)
      $0.answered(told(1), at: .zero)
      $0.lookAtWaiting(at: later)
    }
    #expect(answered == nil)
  }
}
