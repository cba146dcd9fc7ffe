import DaemonSupport
import Foundation
import TestSupport
import Testing

@testable import PumpDaemon
@testable import SprinklerDaemon
@testable import TactusDaemon

@Suite("scenarios of the pump", .ownThread)
struct PumpScenarioTests {
  private static func play(_ text: String, seed: UInt64? = nil) throws -> (passed: Bool, lines: [String]) {
    var scenario = try Scenario<PumpScenario>(YAMLFile(text: text, name: "s.yaml"))
    if let seed { scenario.seed = seed }
    var lines: [String] = []
    let passed = try scenario.play { lines.append($0) }
    return (passed, lines)
  }

  @Test("config/scenarios/pump-session.yaml: every expectation is met")
  func shipped() throws {
    let path = repository.appending(path: "config/scenarios/pump-session.yaml").path(percentEncoded: false)
    let file = try YAMLFile(path: path)
    #expect(PumpScenario.reads(file) && !SprinklerScenario.reads(file))
    var lines: [String] = []
    let passed = try Scenario<PumpScenario>(file).play { lines.append($0) }
    #expect(passed, "\(lines.joined(separator: "\n"))")
  }

  @Test("an expectation that is not met: said with its time, and the scenario fails; every kind can fail")
  func failure() throws {
    let (passed, lines) = try Self.play(
      """
      duration_s: 10
      pump: { firmware: original }
      events: [{ at_s: 1, turn_on: 50 }]
      expect:
        - { at_s: 5, state: fault, off_confirmed: true, fault: overheat, reason: warm, contact: silent, source: manual }
        - { at_s: 6, pump: "off", motor_percent: [0, 10], refused: 1 }
        - { at_s: 11, state: "on" }
      """)
    #expect(!passed)
    #expect(
      lines.filter { $0.contains("FAILED") }.map { String($0.split(separator: "FAILED")[1].drop { $0 == " " }) } == [
        "state: expected fault, got on", "off_confirmed: expected true, got no off",
        "fault: expected overheat, got none",
        "reason: expected warm, got on", "contact: expected silent, got answering", "source: expected manual, got app",
        "pump: expected off, got on", "motor_percent: expected 0…10, got 50", "refused: expected 1, got 0",
        "after the end of the scenario: never checked",
      ])
    #expect(lines.last == "10 expectations not met")
  }

  @Test("the same seed: the same timeline, on a bad line, too; another seed: another trace")
  func seeds() throws {
    let text = """
      duration_s: 60
      pump: { lost_per_million: 20000, changed_per_million: 20000, dialect: legacy }
      events: [{ at_s: 1, turn_on: true }, { at_s: 30, turn_off: true }]
      expect: [{ at_s: 55, pump: "off" }]
      """
    let (passed, first) = try Self.play(text, seed: 3)
    #expect(passed, "\(first.joined(separator: "\n"))")
    #expect(try Self.play(text, seed: 3).lines == first)
    #expect(try Self.play(text, seed: 4).lines.dropFirst() != first.dropFirst())
  }

  @Test("a malformed file: every error with its place")
  func malformed() throws {
    let text = """
      pump: { firmware: original, dialect: legacy, watter: 3 }
      events:
        - { at_s: 1, turn_on: 101 }
        - { at_s: 1, line: torn }
        - { at_s: 1, fault: skin-gone, button: true }
        - { at_s: 1, button: false }
      expect:
        - { at_s: 1, state: flying }
        - { at_s: 1, off_confirmed: perhaps, skin_celsius: [3, 2] }
      """
    let errors = try #require(throws: ConfigErrors.self) {
      _ = try Scenario<PumpScenario>(YAMLFile(text: text, name: "s.yaml"))
    }
    #expect(
      errors.errors.map(\.description) == [
        "s.yaml:1:7: pump.firmware: expected solved with dialect legacy or silence_limit_s, got original",
        "s.yaml:1:46: pump.watter: expected a known key (one of config, firmware, dialect, silence_limit_s, water_celsius, "
          + "skin_celsius, body_celsius, lost_per_million, changed_per_million), got watter",
        "s.yaml:3:25: events[0].turn_on: expected an integer 0…100, got 101",
        "s.yaml:4:22: events[1].line: expected one of plugged, unplugged, cut, got torn",
        "s.yaml:5:5: events[2]: expected one of turn_on, turn_off, speed_percent, emergency_stop, reset, line, fault, "
          + "mended, button, body_celsius, skin_celsius, skin_free, stall_s, got fault and button",
        "s.yaml:6:24: events[3].button: expected true (it cannot be switched off), got false",
        "s.yaml:8:23: expect[0].state: expected one of unknown, off, starting, on, fault, e-stop, shut-down, got flying",
        "s.yaml:9:31: expect[1].off_confirmed: expected true or false, got perhaps",
        "s.yaml:9:54: expect[1].skin_celsius: expected the smaller number first, got [3.0, 2.0]",
      ])
  }
}
