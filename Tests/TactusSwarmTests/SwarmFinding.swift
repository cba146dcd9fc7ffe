import Tactus

@testable import TactusSwarm

/// What the first seed that fails within half a minute has failed in; `nil` if `most` do not.
func swarmFinding(
  most: UInt64 = 150, without take: (inout SwarmMechanisms) -> Void = { _ in }, _ make: @escaping SwarmRun.MakeParts
) throws -> String? {
  var mechanisms = SwarmMechanisms()
  take(&mechanisms)
  var run = SwarmRun(end: .zero + .seconds(30), mechanisms: mechanisms, make)
  for seed in 1...most {
    if let finding = try run.play(seed: seed) { return finding.failure.failure.invariant }
  }
  return nil
}
