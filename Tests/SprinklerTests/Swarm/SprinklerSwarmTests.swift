import Sprinkler
import Tactus
import Testing

@testable import SprinklerSwarm
@testable import TactusSwarm

/// The sprinkler under the swarm: what is taken away is found.
@Suite struct SprinklerSwarmTests {
  @Test("a sprinkler whose flow sensor says nothing, or whose limits never act, is found")
  func flowWithoutLimits() throws {
    let deaf = try swarmFinding { [try SprinklerSwarm(seed: $0, hasSensor: false)] }
    #expect(deaf == SprinklerFlowOracle.names[0])
    let lax = FlowLimits(
      noFlow: SprinklerSwarm.files[0].noFlow, highFlow: SprinklerSwarm.files[2].highFlow, leak: nil)
    let found = try swarmFinding { [try SprinklerSwarm(seed: $0, files: [lax, lax, lax])] }
    #expect(SprinklerFlowOracle.names.contains(found ?? "none"))
  }

  @Test("a sprinkler's store that only says that it has kept something is found")
  func storeThatForgets() throws {
    let found = try swarmFinding { [try SprinklerSwarm(seed: $0, forgets: true)] }
    #expect(found == SprinklerOracle.names[2] || found == SprinklerOracle.names[3])
  }

  @Test("a stop in order that forgets when valves closed whose store is full is found")
  func stopThatForgets() throws {
    let found = try swarmFinding(most: 1_500, without: { $0.notesUnkept = false }, { [try SprinklerSwarm(seed: $0)] })
    #expect(found == SprinklerOracle.names[4])
  }
}
