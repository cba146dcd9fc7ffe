import Leg
import Tactus
import Testing

@testable import LegSwarm
@testable import TactusSwarm

/// The leg and its operator's end under the swarm: what is taken away is found.
@Suite struct LegSwarmTests {
  @Test("a leg whose deadman waits for ten seconds is found")
  func legWithoutDeadman() throws {
    let settings = try LegSettings(deadmanTimeout: .seconds(10))
    let found = try swarmFinding { [LegSwarm(seed: $0, files: [settings])] }
    #expect(found == LegOracle.names[0])
  }

  @Test("an operator that arms instead of a ping, or moves the leg before it has heard of it, is found")
  func legOperator() throws {
    for (command, invariants) in [
      (LegCommand.arm, [LegOperatorOracle.names[0]]), (.setServo(.middle), Array(LegOperatorOracle.names[...1])),
    ] {
      let found = try swarmFinding { seed in
        [
          LegSwarm(seed: seed) { bytes, way in
            guard way == .there, bytes.withUnsafeBytes({ try? LegCommand.decode($0) }) == .ping else { return bytes }
            var frame = [UInt8](repeating: 0, count: LegCommand.maximumEncodedLength)
            let count = frame.withUnsafeMutableBytes { command.encode(into: $0) }
            return Array(frame[..<count])
          }
        ]
      }
      #expect(invariants.contains(try #require(found)))
    }
  }

  @Test("a leg that says that it is disarmed while it pulses is found")
  func legsTelemetry() throws {
    let found = try swarmFinding { seed in
      [
        LegSwarm(seed: seed) { bytes, way in
          guard way == .back, var telemetry = bytes.withUnsafeBytes({ try? LegTelemetry.decode($0) }) else {
            return bytes
          }
          telemetry.state = .disarmed
          var frame = [UInt8](repeating: 0, count: LegTelemetry.encodedLength)
          _ = frame.withUnsafeMutableBytes { telemetry.encode(into: $0) }
          return frame
        }
      ]
    }
    #expect(found == LegOperatorOracle.names[2])
  }
}
