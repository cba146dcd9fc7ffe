import Leg
import Robot
import Tactus
import Testing

@testable import LegSwarm
@testable import Pump
@testable import PumpSwarm
@testable import RobotSwarm
@testable import TactusSwarm

/// The operator's end under the swarm: one that says something else than its person, or is told something else than the truth, is found.
@Suite struct SwarmOperatorTests {
  private func found(_ make: @escaping SwarmRun.MakeParts) throws -> String? {
    var run = SwarmRun(end: .zero + .seconds(30), make)
    for seed in UInt64(1)...150 {
      if let finding = try run.play(seed: seed) { return finding.failure.failure.invariant }
    }
    return nil
  }

  @Test("an operator that takes the robot out of its e-stop by itself is found")
  func robotOperator() throws {
    let found = try found { seed in
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
    let found = try found { seed in
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

  @Test("an operator that arms instead of a ping, or moves the leg before it has heard of it, is found")
  func legOperator() throws {
    for (command, invariants) in [
      (LegCommand.arm, [LegOperatorOracle.names[0]]), (.setServo(.middle), Array(LegOperatorOracle.names[...1])),
    ] {
      let found = try found { seed in
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
    let found = try found { seed in
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

  @Test(
    "a pump's operator that starts it instead of asking for its state, or asks for it instead of turning it off, is found"
  )
  func pumpOperator() throws {
    for (sent, instead, invariant) in [("STATUS\n", "ON\n", 0), ("OFF\n", "STATUS\n", 1)] {
      let found = try found { seed in
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
    let found = try found { seed in
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
      oracle.look(sent: [], [], snapshot, at: start, &output)
      // A line may come in pieces.
      for byte in heard.utf8 { oracle.arrived([byte], at: start) }
      oracle.look(sent: [], answers, snapshot, at: start + wait, &output)
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

  @Test("a link: perfect at first, then as its history says; a seed gives one list of deliveries")
  func link() {
    func deliveries(_ seed: UInt64) -> [TickInstant] {
      var link = SwarmLink(seed: seed)
      let isOfLink = link.apply(SwarmAction(.zero, "robot", "link", 300, 10, 50, 100))
      #expect(isOfLink)
      for index in 0..<100 { link.send([1], .there, at: .zero + .milliseconds(Int64(index))) }
      let back = link.arrived(.back, by: .zero + .seconds(1))
      #expect(back.isEmpty)
      return link.arrived(.there, by: .zero + .seconds(1)).map(\.arrives)
    }
    let first = deliveries(1)
    #expect(first == deliveries(1) && first != deliveries(2))
    #expect(first == first.sorted() && (50..<100).contains(first.count))
    var link = SwarmLink(seed: 1)
    link.send([7], .back, at: .zero)
    #expect(link.nextArrival(.back) == .zero && link.nextArrival(.there) == .distantFuture)
    let bytes = link.arrived(.back, by: .zero).map(\.bytes)
    #expect(bytes == [[7]])
    let (isDeath, isStall) = (
      link.apply(SwarmAction(.zero, "robot", "link-dead", 0, 1)), link.apply(SwarmAction(.zero, "robot", "stall", 1))
    )
    #expect(isDeath && !isStall)
    link.send([8], .back, at: .zero)
    link.send([9], .there, at: .zero)
    let (back, there) = (link.arrived(.back, by: .zero).map(\.bytes), link.arrived(.there, by: .zero).map(\.bytes))
    #expect(back.isEmpty && there == [[9]])
  }
}
