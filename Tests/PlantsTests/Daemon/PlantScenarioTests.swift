import DaemonSupport
import Foundation
import TestSupport
import Testing

@testable import PlantsDaemon
@testable import PumpDaemon
@testable import SprinklerDaemon
@testable import TactusDaemon

@Suite("scenarios of plants", .ownThread)
struct PlantScenarioTests {
  private static func play(_ file: YAMLFile, seed: UInt64? = nil) throws -> (passed: Bool, lines: [String]) {
    var scenario = try Scenario<PlantScenario>(file)
    if let seed { scenario.seed = seed }
    var lines: [String] = []
    let passed = try scenario.play { lines.append($0) }
    return (passed, lines)
  }

  private static func play(_ text: String, seed: UInt64? = nil) throws -> (passed: Bool, lines: [String]) {
    try play(YAMLFile(text: text, name: "s.yaml"), seed: seed)
  }

  @Test(
    "the files in config/scenarios/: every expectation is met",
    arguments: ["plants-watering.yaml", "plants-faults.yaml"])
  func shipped(name: String) throws {
    let path = repository.appending(path: "config/scenarios/\(name)").path(percentEncoded: false)
    let file = try YAMLFile(path: path)
    #expect(PlantScenario.reads(file) && !PumpScenario.reads(file) && !SprinklerScenario.reads(file))
    let (passed, lines) = try Self.play(file)
    #expect(passed, "\(lines.joined(separator: "\n"))")
  }

  @Test("an expectation that is not met: said with its time, and the scenario fails; every kind can fail")
  func failure() throws {
    let (passed, lines) = try Self.play(
      """
      duration_s: 30
      plants:
      events: [{ at_s: 1, request: REQ_addNewPlant, payload: 'Basil:["0x36"]' }]
      expect:
        - { at_s: 2, reply: RES_numPlants, payload: Fern, replies: 0, plants: 2, asked: 1 }
        - { at_s: 20, plant: Fern, alerts: dry, watered: true, celsius: 21 }
        - { at_s: 20, plant: Basil, alerts: [silent, dry], watered: true, moisture_percent: 10, celsius: [0, 20] }
        - { at_s: 20, failures: [1, 3], replies_so_far: 7 }
        - { at_s: 31, plants: 1 }
      """)
    #expect(!passed)
    #expect(
      lines.filter { $0.contains("FAILED") }.map { String($0.split(separator: "FAILED")[1].drop { $0 == " " }) } == [
        "reply: expected RES_numPlants, got RES_addNewPlant", "payload: expected Fern, got Basil",
        "replies: expected 0, got 1", "plants: expected 2, got 1", "asked: expected 1, got 0",
        "plant: expected Fern, got none of that name", "Fern: alerts: expected dry, got no such plant",
        "Fern: watered: expected true, got no such plant", "Fern: celsius: expected 21, got nothing: it is unknown",
        "Basil: alerts: expected dry, silent, got none", "Basil: watered: expected true, got false",
        "Basil: moisture_percent: expected 10, got 61.833", "Basil: celsius: expected 0…20, got 21",
        "failures: expected 1…3, got 0", "replies_so_far: expected 7, got 1",
        "after the end of the scenario: never checked",
      ])
    #expect(lines.last == "16 expectations not met")
  }

  @Test("the same file: the same timeline, what is asked of a sprinkler on another thread included")
  func repeats() throws {
    let path = repository.appending(path: "config/scenarios/plants-watering.yaml").path(percentEncoded: false)
    let first = try Self.play(YAMLFile(path: path)).lines
    #expect(first.contains { $0.contains("asks zone 7 for 60 s of water") })
    for _ in 0..<2 { #expect(try Self.play(YAMLFile(path: path)).lines == first) }
  }

  @Test("a malformed file: every error with its place")
  func malformed() throws {
    let text = """
      plants: { configuration: x.yaml }
      events:
        - { at_s: 1, probe: "0x40", fault: open }
        - { at_s: 1, fault: torn }
        - { at_s: 1, moisture_percent: 101, probe: "0x36" }
        - { at_s: 1, broker: gone }
        - { at_s: 1, request: REQ_numPlants, probe: "0x36" }
        - { at_s: 1, bus: stuck, sprinkler: ready }
      expect:
        - { at_s: 1, alerts: dry }
        - { at_s: 1, plant: Basil, alerts: [dry, sad] }
        - { at_s: 1, plant: Basil, celsius: [3, 2] }
      """
    let errors = try #require(throws: ConfigErrors.self) {
      _ = try Scenario<PlantScenario>(YAMLFile(text: text, name: "s.yaml"))
    }
    #expect(
      errors.errors.map(\.description) == [
        "s.yaml:1:11: plants.configuration: expected a known key (one of config), got configuration",
        "s.yaml:3:23: events[0].probe: expected 0x36, got 0x40",
        "s.yaml:4:23: events[1].fault: expected one of none, open, short, got torn",
        "s.yaml:5:34: events[2].moisture_percent: expected a number 0…100, got 101",
        "s.yaml:6:24: events[3].broker: expected one of up, down, got gone",
        "s.yaml:7:47: events[4].probe: expected none beside request",
        "s.yaml:8:5: events[5]: expected one of request, message, moisture_percent, pour_percent, celsius, fault, broker, "
          + "bus, sprinkler, stall_s, got bus and sprinkler",
        "s.yaml:10:24: expect[0].alerts: expected plant with it, got none",
        "s.yaml:11:44: expect[1].alerts: expected one of dry, wet, cold, hot, silent, got sad",
        "s.yaml:12:39: expect[2].celsius: expected the smaller number first, got [3.0, 2.0]",
      ])
  }

  @Test("a configuration without plants: an error")
  func withoutPlants() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    _ = try folder.write("motors: {}\n", to: "robot.yaml")
    let path = try folder.write("plants: { config: robot.yaml }\n", to: "s.yaml")
    let errors = try #require(throws: ConfigErrors.self) { _ = try Scenario<PlantScenario>(YAMLFile(path: path)) }
    #expect(errors.errors.map(\.message) == ["expected a configuration with plants, got one without"])
  }
}
