import DaemonSupport
import Foundation
import Tactus
import TestSupport
import Testing

@testable import RobotDaemon
@testable import TactusDaemon

private func errors(_ text: String) -> [String] {
  do {
    _ = try Scenario<RobotScenario>(YAMLFile(text: text, name: "s.yaml"))
    return []
  } catch let errors as ConfigErrors {
    return errors.errors.map(\.description)
  } catch {
    return ["\(error)"]
  }
}

/// Plays a scenario; whether it passed, and its timeline.
private func play(_ text: String, seed: UInt64? = nil) throws -> (passed: Bool, lines: [String]) {
  var scenario = try Scenario<RobotScenario>(YAMLFile(text: text, name: "s.yaml"))
  if let seed { scenario.seed = seed }
  var lines: [String] = []
  let passed = try scenario.play { lines.append($0) }
  return (passed, lines)
}

/// A world without loops, in which nothing is said.
private struct Tank: ScenarioWorld {
  struct Setup { var level = 0.0 }

  static let part: String? = nil
  static let standard = Setup()
  static var keys: [ScenarioWord<Setup>] { [ScenarioWord("level_l", .number(0...9)) { $0.level = $1 }] }
  static func duration(_ setup: Setup) -> Nanoseconds { .seconds(1) }
  static func events(_ setup: Setup) -> [ScenarioWord<Self>] { [] }
  static func checks(_ setup: Setup) -> [ScenarioCheck<Self>] { [ScenarioCheck("level_l", .range) { $0.level }] }

  var timeline: ScenarioTimeline
  var now = TickInstant.zero
  let level: Double

  init(_ setup: Setup, seed: UInt64, _ timeline: ScenarioTimeline) {
    (self.timeline, level) = (timeline, setup.level)
  }

  mutating func run(to instant: TickInstant) { now = instant }
  mutating func finish() { timeline.printTrace(0) }
}

@Suite("scenarios", .ownThread)
struct ScenarioTests {
  @Test("the files in config/scenarios/: every expectation is met", arguments: ["link-loss.yaml", "bus-fault.yaml"])
  func shipped(name: String) throws {
    let path = repository.appending(path: "config/scenarios/\(name)").path(percentEncoded: false)
    var lines: [String] = []
    let passed = try Scenario<RobotScenario>(YAMLFile(path: path)).play { lines.append($0) }
    #expect(passed, "\(lines.joined(separator: "\n"))")
  }

  @Test("what is not seen in the texts of the file: shown by its number")
  func unseen() throws {
    let lines = try play(#"name: "a\u202Eb\u2028c""# + "\nduration_s: 1").lines
    #expect(lines.first == #"a\u202eb\u2028c (seed 1)"#)
  }

  @Test("an expectation that is not met: said with its time, and the scenario fails")
  func failure() throws {
    let (passed, lines) = try play(
      "duration_s: 2\nevents: [{ at_s: 0.5, joystick: [0, 1] }]\nexpect: [{ at_s: 1.5, state: stopped, left_percent: [0, 10] }]"
    )
    #expect(!passed)
    #expect(lines.contains("     1.500 s  FAILED      state: expected stopped, got driving"))
    #expect(lines.contains("     1.500 s  FAILED      left_percent: expected 0…10, got 100"))
    #expect(lines.last == "2 expectations not met")
  }

  @Test("an expectation after the end: not met rather than forgotten")
  func late() throws {
    #expect(try !play("duration_s: 1\nexpect: [{ at_s: 2, state: stopped }]").passed)
  }

  @Test("the same seed: the same timeline; another seed: another")
  func seeds() throws {
    let text = """
      duration_s: 5
      network: { delay_ms: 5, jitter_ms: 20, loss_percent: 30 }
      events: [{ at_s: 0.5, joystick: [0.3, 1] }]
      """
    let first = try play(text, seed: 3).lines
    #expect(try play(text, seed: 3).lines == first)
    #expect(try play(text, seed: 4).lines.dropFirst() != first.dropFirst())
  }

  @Test("the trace: the same for the same file and seed; another where an order is another, though loops tick alike")
  func trace() throws {
    func trace(_ percent: Int) throws -> String? {
      try play("duration_s: 2\nevents: [{ at_s: 0.5, wheels: [\(percent), \(percent)] }]").lines.last {
        $0.hasPrefix("trace ")
      }
    }
    let first = try #require(try trace(40))
    #expect(try trace(40) == first)
    #expect(try trace(41) != first)
  }

  @Test("the trace: another where only the state is another, of which no line tells")
  func traceOfStates() throws {
    func trace(_ level: Int) throws -> String? {
      var lines: [String] = []
      _ = try Scenario<Tank>(YAMLFile(text: "level_l: \(level)", name: "s.yaml")).play { lines.append($0) }
      return lines.last { $0.hasPrefix("trace ") }
    }
    let first = try #require(try trace(3))
    #expect(try trace(3) == first)
    #expect(try trace(4) != first)
  }

  @Test("a link that is down for exactly less than the failsafe: the robot drives on")
  func shortLoss() throws {
    let (passed, lines) = try play(
      """
      duration_s: 4
      events: [{ at_s: 0.5, wheels: [50, 50] }, { at_s: 2, link: down }, { at_s: 2.9, link: up }]
      expect: [{ at_s: 3.5, state: driving, left_percent: 50 }]
      """)
    #expect(passed)
    #expect(!lines.contains { $0.contains("silent") })
  }

  @Test("a malformed file: every error with its place")
  func malformed() {
    #expect(
      errors(
        """
        seed: -1
        duration: 3
        events:
          - { at_s: 1, joystick: [0, 2] }
          - { at_s: 1, joystick: [0, 1], stop: true }
          - { stop: true }
          - { at_s: 1, buss: stuck }
        expect:
          - { at_s: 1 }
          - { at_s: 1, state: flying, x_m: [2, 1] }
        """)
        == [
          "s.yaml:1:7: seed: expected an integer 0…\(Int.max), got -1",
          "s.yaml:2:1: duration: expected a known key (duration_s?), got duration",
          "s.yaml:4:30: events[0].joystick: expected a number -1…1, got 2",
          "s.yaml:5:5: events[1]: expected one of joystick, wheels, rest, stop, emergency_stop, reset, link, network, "
            + "stall_s, bus, look, got joystick and stop",
          "s.yaml:6:5: events[2]: expected at_s, got none",
          "s.yaml:7:5: events[3]: expected one of joystick, wheels, rest, stop, emergency_stop, reset, link, network, "
            + "stall_s, bus, look, got none",
          "s.yaml:7:16: events[3].buss: expected a known key (bus?), got buss",
          "s.yaml:9:5: expect[0]: expected something besides at_s, got nothing",
          "s.yaml:10:23: expect[1].state: expected one of stopped, driving, e-stop, fault, got flying",
          "s.yaml:10:36: expect[1].x_m: expected the smaller number first, got [2.0, 1.0]",
        ])
  }

  @Test("a fault of the bus as a word or a share; an operator beside what operators do, and nowhere else")
  func forms() throws {
    let (passed, lines) = try play(
      """
      duration_s: 3
      operators: 2
      network:
      events:
        - { at_s: 0.5, wheels: [20, 20], operator: 1 }
        - { at_s: 1, bus: { refuse_percent: 100 } }
        - { at_s: 2, bus: ok }
      expect: [{ at_s: 0.9, left_percent: 20 }, { at_s: 1.9, state: fault, write_failures: [1, 1000] }]
      """)
    #expect(passed, "\(lines.joined(separator: "\n"))")
    #expect(lines.contains("     0.500 s  operator 1  controls: left 20 %, right 20 %"))
    #expect(lines.contains("     1.000 s  bus         1000 ‰ of the transfers are not acknowledged"))
    #expect(
      errors(
        """
        network: { loss_percent: 101, delays_ms: 3 }
        events:
          - { at_s: 1, bus: {} }
          - { at_s: 1, bus: { refuse: 3 } }
          - { at_s: 1, bus: broken }
          - { at_s: 1, rest: true, operator: 1 }
          - { at_s: 1, link: up, operator: 0 }
        """) == [
          "s.yaml:1:26: network.loss_percent: expected a number 0…100, got 101",
          "s.yaml:1:31: network.delays_ms: expected a known key (delay_ms?), got delays_ms",
          "s.yaml:3:21: events[0].bus: expected refuse_percent, got none",
          "s.yaml:4:21: events[1].bus: expected refuse_percent, got none",
          "s.yaml:4:23: events[1].bus.refuse: expected a known key (one of refuse_percent), got refuse",
          "s.yaml:5:21: events[2].bus: expected one of ok, stuck, no-acknowledge, got broken",
          "s.yaml:6:38: events[3].operator: expected an integer 0…0, got 1",
          "s.yaml:7:36: events[4].operator: expected none beside link",
        ])
  }

  @Test("tactus sim: 0 when met, 1 when not, 78 for a malformed file")
  func exitStatus() throws {
    func status(_ text: String) throws -> Int32? {
      let folder = try TemporaryFolder()
      defer { withExtendedLifetime(folder) {} }
      return try TactusProcess(["sim", try folder.write(text, to: "scenario.yaml")]).finish()
    }
    #expect(try status("duration_s: 1\nexpect: [{ at_s: 1, state: stopped }]") == 0)
    #expect(try status("duration_s: 1\nexpect: [{ at_s: 1, state: driving }]") == 1)
    #expect(try status("duration_s: soon") == 78)
  }
}
