import Tactus
import Testing

@testable import TactusDaemon

/// A declared system whose loop hangs in simulated time.
@Suite struct DeclaredScenarioTests {
  /// Plays a scenario of the lamp; whether it passed, and its time line.
  private func play(_ text: String, seed: UInt64 = 1) throws -> (passed: Bool, lines: [String]) {
    var scenario = try Scenario<DeclaredScenario<Lamp>>(YAMLFile(text: "lamp:\n" + text, name: "s.yaml"))
    scenario.seed = seed
    var lines: [String] = []
    let passed = try scenario.play { lines.append($0) }
    return (passed, lines)
  }

  @Test(
    "stall_s: three missed releases ask for the safe state, fewer do not; what is asked meanwhile, and in two seconds after, is not done"
  )
  func stalled() throws {
    let (passed, lines) = try play(
      """
      duration_s: 10
      events:
        - { at_s: 1, call: shine, with: { percent: 40 } }
        - { at_s: 2, stall_s: 0.12 }
        - { at_s: 3, stall_s: 2 }
        - { at_s: 3.5, call: shine, with: { percent: 50 } }
        - { at_s: 4.5, call: shine, with: { percent: 60 } }
        - { at_s: 6.5, call: shine, with: { percent: 65 } }
        - { at_s: 7.5, call: shine, with: { percent: 70 } }
      expect:
        - { at_s: 1.9, state: shining, answer: accepted }
        - { at_s: 2.9, state: shining, safe_states: 0 }
        - { at_s: 4.9, answer: NOT_TAKEN }
        - { at_s: 6, state: "off", answer: STALE, safe_states: 1 }
        - { at_s: 7, state: "off", answer: STALE }
        - { at_s: 8, state: shining, answer: accepted, safe_states: 1 }
      """)
    #expect(passed, "\(lines.joined(separator: "\n"))")
    #expect(lines.count { $0.hasSuffix("releases missed: it is put into its safe state") } == 1)
  }

  @Test("a stall in simulated time: the outputs are off when the loop goes on, and stay off")
  func outputs() throws {
    let lamp = try SimulatedSystem<Lamp>(ConfiguredSystem<Lamp>(), seed: 1)
    lamp.simulation.run(for: .milliseconds(100))
    lamp.send(.shine(percent: 40), makesSafe: false, at: lamp.simulation.now) { _ in }
    lamp.simulation.run(for: .milliseconds(100))
    #expect(lamp.bench.isDriving && lamp.counters?.safeStates == 0)
    lamp.simulation.stall(loop: lamp.loopName, at: lamp.simulation.now, by: .milliseconds(300))
    lamp.simulation.run(for: .milliseconds(500))
    #expect(!lamp.bench.isDriving && lamp.isSafe && lamp.counters?.safeStates == 1)
    lamp.simulation.run(for: .seconds(1))
    #expect(!lamp.bench.isDriving)
  }
}
