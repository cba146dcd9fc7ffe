import MQTTMosquitto
import Plants
import Tactus
import TestSupport
import Testing
import Wire

@testable import PlantsSwarm
@testable import TactusSwarm

/// The plants and their broker under the swarm: everything holds, and what is taken away is found. Handlers of commands run in tasks, which a test on a
/// thread of theirs would keep from running.
@Suite("swarm: plants", .ownThread) struct PlantSwarmTests {
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
      #expect(finding == nil, "\(finding.map { SwarmCommand.failureText(seed, $0.failure) } ?? "")")
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

  @Test(
    "a plant's button: a command that the broker has kept, taken for one of now, is found")
  func buttons() throws {
    func failure(_ settings: PlantSwarm.Settings, kind: Int64) throws -> String? {
      let history = SwarmHistory(
        seed: 3, end: Self.minute,
        actions: [
          SwarmAction(.zero + .seconds(1), "plants", "rest-add", 0, 0, 1),
          SwarmAction(.zero + .seconds(2), "plants", "button", 1, kind),
          SwarmAction(.zero + .seconds(20), "plants", "link-lost"),
        ])
      var run = SwarmRun(end: Self.minute) { [PlantSwarm(seed: $0, settings)] }
      return try run.play(history)?.failure.invariant
    }
    var settings = PlantSwarm.Settings()
    for kind in Int64(0)...2 { #expect(try failure(settings, kind: kind) == nil) }
    settings.flagsKept = false
    #expect(try failure(settings, kind: 1) == PlantButtons.names[0])
  }

  @Test("a plant's command that is answered twice, not at all, or falsely, or carried out without a word: each is seen")
  func buttonsOracle() {
    let topics = DeviceTopics(device: "swarm")!
    let command = PlantButtons.press(1, on: topics, id: 7)
    func failure(_ texts: [String], waterings: Int) -> String? {
      var checks = SwarmChecks(PlantButtons.names)
      let replies = texts.map { MQTTMessage(topic: topics.reply(["plants", "1"]), text: $0) }
      let effect = PlantButtons.Effect(
        before: PlantRecords(), wall: PlantInstant(secondsSince1970: 0), refuses: false, waterings: waterings)
      PlantButtons.check([command], replies, effect, topics, at: .zero, &checks, 0)
      return checks.failure?.invariant
    }
    let refusal = "{\"id\":7,\"ok\":false}"
    #expect(failure([refusal], waterings: 0) == nil)
    for texts in [[], [refusal, refusal], ["{\"id\":7,\"ok\":true}"], ["{\"id\":8,\"ok\":false}"]] {
      #expect(failure(texts, waterings: 0) == PlantButtons.names[1])
    }
    #expect(failure([refusal], waterings: 1) == PlantButtons.names[1])
  }

  @Test("an orderly stop that keeps nothing of what was gathered, or that leaves the broker without a word, is found")
  func stops() throws {
    var settings = PlantSwarm.Settings()
    settings.finishes = false
    #expect(try finding(most: 100, settings) == PlantOracle.names[10])
    settings.finishes = true
    settings.saysGoodbye = false
    #expect(try finding(most: 100, settings) == PlantOracle.names[11])
  }

  @Test("a message that the broker has kept, taken for a request of now, is found")
  func keptMessages() throws {
    var settings = PlantSwarm.Settings()
    settings.flagsKept = false
    let found = try #require(try finding(most: 100, settings))
    #expect((PlantOracle.names[0...2] + PlantButtons.names).contains(found))
  }
}
