import MQTTMosquitto
import Tactus
import TestSupport
import Testing

@testable import PumpSwarm
@testable import RobotSwarm
@testable import TactusSwarm

/// Commands over the simulated broker, and the broker itself. Handlers run in tasks, which a test on a thread of theirs would keep from running.
@Suite("swarm: commands over a broker", .ownThread) struct SwarmRemoteTests {
  private static let minute = TickInstant.zero + .seconds(60)

  private static func make(_ seed: UInt64) -> [any SwarmPart] {
    SwarmRemote.commanding([RobotSwarm(seed: seed), PumpSwarm(seed: seed)], seed: seed)
  }

  @Test("forty seeds of a robot and a pump, commanded over a broker: everything holds, and everything was looked at")
  func holds() throws {
    var run = SwarmRun(end: Self.minute, Self.make)
    for seed in UInt64(1)...40 {
      let finding = try run.play(seed: seed)
      #expect(finding == nil, "\(finding.map { SwarmCommand.failureText(seed, $0.failure) } ?? "")")
    }
    let rows = run.tally.rows.filter { $0.part == "mqtt" }
    #expect(rows.map(\.invariant) == SwarmRemote.names)
    for row in rows { #expect(row.looks > 0, "\(row.invariant)") }
  }

  @Test("a broker that does not say of a command that it has kept it: found, since it is carried out again")
  func keptCommands() throws {
    var run = SwarmRun(end: Self.minute) { seed in
      let parts = [PumpSwarm(seed: seed)]
      return parts + [SwarmRemote(parts, seed: seed, flagsKept: false)]
    }
    for seed in UInt64(1)...100 {
      guard let finding = try run.play(seed: seed) else { continue }
      #expect(finding.failure.failure.invariant == SwarmRemote.names[0])
      return
    }
    Issue.record("a hundred seeds did not find it")
  }

  @Test("an orderly stop that leaves it to the broker to say that the daemon is offline is found")
  func withoutGoodbye() throws {
    var run = SwarmRun(end: Self.minute) { seed in
      let parts = [PumpSwarm(seed: seed)]
      return parts + [SwarmRemote(parts, seed: seed, saysGoodbye: false)]
    }
    for seed in UInt64(1)...100 {
      guard let finding = try run.play(seed: seed) else { continue }
      #expect(finding.failure.failure.invariant == SwarmRemote.names[4])
      return
    }
    Issue.record("a hundred seeds did not find it")
  }

  @Test(
    "a daemon that stops in order: what it says last comes to the broker, then offline, then its goodbye, and no will")
  func goodbye() {
    let broker = SwarmBroker(seed: 3)
    var passed = Int64(0)
    /// With a beat a second.
    func pass(to seconds: Int64) {
      while passed < seconds {
        passed += 1
        let end = TickInstant.zero + .seconds(passed)
        while broker.nextAt <= end { broker.run(at: broker.nextAt) }
        broker.beat(at: end, [])
      }
    }
    broker.start(at: .zero, served: [], others: [])
    pass(to: 8)
    #expect(broker.connectedSince != nil && broker.goodbye == nil)
    broker.stop(at: .zero + .seconds(8))
    broker.kill(at: .zero + .seconds(8))
    #expect(broker.connectedSince == nil)
    pass(to: 12)
    #expect(broker.goodbye?.retained[broker.topics.availability] == Array("offline".utf8))
    // A daemon that is cut off on its way has no goodbye, and the broker says its will.
    broker.start(at: .zero + .seconds(12), served: [], others: [])
    pass(to: 20)
    #expect(broker.retained[broker.topics.availability] == Array("online".utf8))
    broker.stop(at: .zero + .seconds(20))
    broker.kill(at: .zero + .seconds(20))
    broker.disconnect(at: .zero + .seconds(20))
    pass(to: 24)
    #expect(broker.lostAt == .zero + .seconds(20) && (broker.goodbye?.at ?? .zero) < .zero + .seconds(20))
    #expect(broker.retained[broker.topics.availability] == Array("offline".utf8))
  }

  @Test("the same seed: the same looks, though handlers run in tasks")
  func deterministic() throws {
    func tally() throws -> SwarmTally {
      var run = SwarmRun(end: Self.minute, Self.make)
      for seed in UInt64(1)...8 { _ = try run.play(seed: seed) }
      return run.tally
    }
    #expect(try tally().rows == tally().rows)
  }

  @Test("a command of the emergency stop stops every part; a reset lets them go")
  func emergencyStop() throws {
    let parts = [FakeSwarmPart(), FakeSwarmPart()]
    var world = SwarmWorld(parts + [SwarmRemote(parts, seed: 1)])
    let stop = SwarmAction(.zero + .seconds(2), "mqtt", "send", 0, 0)
    _ = try world.play(SwarmHistory(seed: 1, end: .zero + .seconds(8), actions: [stop]))
    #expect(parts.allSatisfy { $0.isEmergencyStopped })
    let reset = SwarmAction(.zero + .seconds(9), "mqtt", "send", 1, 0)
    _ = try world.play(SwarmHistory(seed: 1, end: .zero + .seconds(16), actions: [reset]))
    #expect(parts.allSatisfy { !$0.isEmergencyStopped })
  }

  @Test("the broker: what is retained comes to a new connection as kept; a dead daemon is offline; gone, it may forget")
  func broker() {
    let broker = SwarmBroker(seed: 3)
    var passed = Int64(0)
    /// With a beat a second.
    func pass(to seconds: Int64) {
      while passed < seconds {
        passed += 1
        let end = TickInstant.zero + .seconds(passed)
        while broker.nextAt <= end { broker.run(at: broker.nextAt) }
        broker.beat(at: end, [])
      }
    }
    let command = broker.topics.command("pump")
    broker.publish(MQTTMessage(topic: command, text: "off", isRetained: true), copies: 1, at: .zero)
    pass(to: 4)
    broker.start(at: .zero + .seconds(4), served: [], others: [], takesCommands: true)
    pass(to: 12)
    #expect(broker.takeDelivered().filter { $0.topic == command }.map(\.isRetained) == [true])
    #expect(broker.retained[broker.topics.availability].map { String(decoding: $0, as: UTF8.self) } == "online")
    broker.kill(at: .zero + .seconds(12))
    pass(to: 16)
    #expect(broker.retained[broker.topics.availability].map { String(decoding: $0, as: UTF8.self) } == "offline")
    broker.leave(at: .zero + .seconds(16), for: .seconds(2), forgets: true)
    #expect(broker.upSince == nil && broker.retained.isEmpty)
    pass(to: 19)
    #expect(broker.upSince == .zero + .seconds(18))
  }
}
