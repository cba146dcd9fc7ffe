import Robot
import RobotDaemon
import Tactus
import Testing

@testable import RobotSwarm
@testable import TactusSwarm

/// The robot and its operator's end under the swarm: a history that is kept, and what is taken away is found.
@Suite struct RobotSwarmTests {
  @Test("an emergency stop holds over a daemon that ends in the instant of its start")
  func stopOverAShortLife() throws {
    let history = """
      seed 1
      end 6.000000000
      1.000000000 daemon estop
      2.000000000 daemon kill 500
      2.500000000 daemon stop 300
      4.000000000 robot drive 0 50 50 0
      4.100000000 robot drive 0 50 50 100
      """
    var run = SwarmRun(end: .zero + .seconds(30)) { [RobotSwarm(seed: $0)] }
    #expect(try run.play(SwarmHistory(text: history + "\n")) == nil)
  }

  @Test("a robot whose failsafe waits for ten seconds is found")
  func robotWithoutFailsafe() throws {
    let found = try swarmFinding { [RobotSwarm(seed: $0, files: [Robot.Rules(commandTimeoutSeconds: 10)])] }
    #expect(found == RobotOracle.names[0])
  }

  @Test("an operator that takes the robot out of its e-stop by itself is found")
  func robotOperator() throws {
    let found = try swarmFinding { seed in
      [
        RobotSwarm(seed: seed) { bytes, way in
          guard way == .there, let message = bytes.withUnsafeBytes({ try? RobotMessage.decode($0) }),
            message.command == .emergencyStop
          else { return bytes }
          return Array(#"{"command":"reset"}"#.utf8)
        }
      ]
    }
    #expect(found == RobotOperatorOracle.names[0])
  }

  @Test("a robot that says that it stands while it drives is found")
  func robotsReply() throws {
    let found = try swarmFinding { seed in
      [
        RobotSwarm(seed: seed) { bytes, way in
          guard way == .back, var reply = bytes.withUnsafeBytes({ try? RobotReply.decode($0) }) else { return bytes }
          reply.speeds = .zero
          var text = [UInt8](repeating: 0, count: RobotReply.maximumEncodedLength)
          let count = text.withUnsafeMutableBytes { reply.encode(into: $0) }
          return Array(text[..<count])
        }
      ]
    }
    #expect(found == RobotOperatorOracle.names[1])
  }
}
