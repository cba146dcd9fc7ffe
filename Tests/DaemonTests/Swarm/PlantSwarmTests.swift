import Plants
import Tactus
import Testing

@testable import PlantsDaemon
@testable import TactusDaemon

/// The plants and their broker under the swarm: everything holds, and what is taken away is found.
@Suite struct PlantSwarmTests {
  private static let minute = TickInstant.zero + .seconds(60)

  /// What the first seed that fails has failed in; `nil` if `most` do not.
  private func finding(most: UInt64, _ settings: PlantSwarm.Settings) throws -> String? {
    var run = SwarmRun(end: Self.minute) { [PlantSwarm(seed: $0, settings)] }
    for seed in 1...most {
      if let finding = try run.play(seed: seed) { return finding.failure.failure.invariant }
    }
    return nil
  }

  @Test("thirty seeds of plants and their broker: everything holds, and everything was looked at")
  func holds() throws {
    var run = SwarmRun(end: Self.minute) { [PlantSwarm(seed: $0)] }
    for seed in UInt64(1)...30 {
      let finding = try run.play(seed: seed)
      #expect(finding == nil, "\(finding.map { SwarmCommand.words(seed, $0.failure) } ?? "")")
    }
    #expect(run.tally.rows.count == PlantOracle.names.count)
    for row in run.tally.rows { #expect(row.looks > 0, "\(row.invariant)") }
  }

  @Test("a store that only says that it has kept a plant is found")
  func storeThatForgets() throws {
    var settings = PlantSwarm.Settings()
    settings.forgets = true
    #expect(try finding(most: 20, settings) == PlantOracle.names[0])
  }

  @Test("readings that never grow stale are found")
  func staleReadings() throws {
    var settings = PlantSwarm.Settings()
    settings.staleAfter = .seconds(3_600)
    #expect(try finding(most: 60, settings) == PlantOracle.names[5])
  }

  @Test("a message that the broker has kept, taken for a request of now, is found")
  func keptMessages() throws {
    var settings = PlantSwarm.Settings()
    settings.flagsKept = false
    let found = try #require(try finding(most: 100, settings))
    #expect([PlantOracle.names[0], PlantOracle.names[1], PlantOracle.names[2]].contains(found))
  }
}
