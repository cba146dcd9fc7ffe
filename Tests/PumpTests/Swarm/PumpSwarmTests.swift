import Tactus
import Testing

@testable import Pump
@testable import PumpSwarm
@testable import TactusSwarm

/// The pump and its operator's end under the swarm: a history that is kept, and what is taken away is found.
@Suite struct PumpSwarmTests {
  @Test("a pump's OFF and ON of before the guard's stop, read after it: it stays off, and an ON alone turns nothing on")
  func linesOfBeforeAStop() throws {
    let history = """
      seed 706
      end 12.000000000
      5.489000000 pump line-on
      6.247000000 daemon freeze 2489
      6.260000000 pump line-off
      6.270000000 pump line-on
      9.113000000 pump line-on
      """
    var run = SwarmRun(end: .zero + .seconds(30)) { [PumpSwarm(seed: $0)] }
    #expect(try run.play(SwarmHistory(text: history + "\n")) == nil)
  }

  @Test("a pump without a run limit is found, and so is one whose limit begins anew with every start")
  func pumpWithoutLimit() throws {
    let unlimited = try PumpDeviceSettings(runLimit: .seconds(86_400))
    let found = try swarmFinding { [PumpSwarm(seed: $0, files: [unlimited])] }
    #expect(found == PumpOracle.names[0])
    let restless = try PumpDeviceSettings(runLimit: .seconds(8), rest: .zero)
    let second = try swarmFinding { [PumpSwarm(seed: $0, files: [restless])] }
    #expect(second == PumpOracle.names[0])
  }

  @Test(
    "a pump's operator that starts it instead of asking for its state, or asks for it instead of turning it off, is found"
  )
  func pumpOperator() throws {
    for (sent, instead, invariant) in [("STATUS\n", "ON\n", 0), ("OFF\n", "STATUS\n", 1)] {
      let found = try swarmFinding { seed in
        [
          PumpSwarm(seed: seed) { bytes, way in way == .there && bytes == Array(sent.utf8) ? Array(instead.utf8) : bytes
          }
        ]
      }
      #expect(found == PumpOperatorOracle.names[invariant])
    }
  }

  @Test("a pump that says that it is off while it pumps is found")
  func pumpsStatus() throws {
    let found = try swarmFinding { seed in
      [
        PumpSwarm(seed: seed) { bytes, way in
          guard way == .back else { return bytes }
          return Array(String(decoding: bytes, as: UTF8.self).replacing("State:ON", with: "State:OFF").utf8)
        }
      ]
    }
    #expect(found == PumpOperatorOracle.names[2])
  }

  @Test("an operator that believes something else than it was told, or an answer that is none, is found")
  func pumpOperatorsBelief() {
    let start = TickInstant.zero + .seconds(1)
    func failure(
      _ heard: String, _ snapshot: PumpSnapshot, _ answers: [Answer<PumpIgnoreReason>] = [],
      after wait: Nanoseconds = .zero
    ) -> String? {
      var (oracle, output) = (PumpOperatorOracle(from: start), SwarmOutput(PumpOracle.names, tick: .milliseconds(50)))
      oracle.check(sent: [], [], snapshot, at: start, &output)
      // A line may come in pieces.
      for byte in heard.utf8 { oracle.arrived([byte], at: start) }
      oracle.check(sent: [], answers, snapshot, at: start + wait, &output)
      return output.checks.failure?.invariant
    }
    var snapshot = PumpSnapshot()
    (snapshot.contact, snapshot.state) = (.answering, .on(since: start))
    #expect(failure("PUMP:ON\n", snapshot) == nil)
    #expect(failure("PUMP:OFF\n", snapshot) == PumpOperatorOracle.names[3])
    #expect(failure("PUMP:ON\n", snapshot, after: .seconds(10)) == PumpOperatorOracle.names[3])
    snapshot.state = .off(.confirmed)
    #expect(failure("PUMP:ON\n", snapshot) == PumpOperatorOracle.names[3])
    #expect(
      failure("PUMP:OFF\n", snapshot, [Answer(number: 1, verdict: .accepted, at: start)]) == PumpOperatorOracle.names[4]
    )
  }
}
