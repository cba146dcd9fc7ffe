import Buses
import CTactusGuard
import Devices
import Glibc
import Robot
import Tactus
import TactusGuard
import TestSupport
import Testing

@testable import TactusDaemon

/// The robot's lane and the supervisor's in simulated time, the guard's end of the socket in the test's hands.
@Suite("supervisor", .ownThread)
struct SupervisorLoopTests {
  private static let robot = Endpoint.ipv4(10, 0, 0, 1, port: 5005)

  private struct Setup {
    let simulation: Simulation
    let network: SimulatedNetwork
    let bell: Doorbell
    let guardEnd: Int32

    /// Heartbeats that have arrived since the last call.
    func heartbeats() -> [tactus_guard_message] {
      var heartbeats: [tactus_guard_message] = []
      var message = tactus_guard_message()
      while tactus_guard_receive(guardEnd, &message) == 1 { heartbeats.append(message) }
      #expect(heartbeats.allSatisfy { $0.kind == UInt64(TACTUS_GUARD_HEARTBEAT.rawValue) && $0.watched == 0b11 })
      return heartbeats
    }

    /// Those of them that say that the loop at `place` advances.
    func heartbeats(of place: Int) -> Int { heartbeats().count { $0.advanced >> UInt64(place) & 1 != 0 } }
  }

  /// - Parameters:
  ///   - slow: the other loop ticks once a second.
  ///   - patience: with a guard that does not answer.
  private func withSetup(
    slow: Bool = false, patience: Nanoseconds = .seconds(1000),
    _ body: (Setup, inout RingReader<SupervisorNotice>) throws -> Void
  ) throws {
    let mailbox = try RobotLoop.Mailbox(state: RobotSnapshot(.standard), rules: .standard)
    let (bus, board) = (SimulatedI2CBus(), YBPcbCarSimulator())
    bus.attach(board.chip, at: YBPcbCar.standardAddress)
    let network = SimulatedNetwork([Self.robot])
    let bell = try Doorbell()
    let notices = Ring<SupervisorNotice>(capacity: 128)
    var pair: [Int32] = [-1, -1]
    try #require(tactus_guard_socket_pair(&pair) == 0)
    defer { for descriptor in pair { close(descriptor) } }
    let other = Latest(0)
    let runtime = try Runtime(lockMemory: false) {
      Lane("robot") {
        Loop("robot.motors", every: .hertz(20), inputs: [.simulated(network.input(Self.robot))]) {
          RobotLoop(
            ends: mailbox.loopEnds(), motors: Motors(YBPcbCar(), on: bus.port()), port: network.port(Self.robot))
        }
      }
      Lane("other") { Loop("other", every: .hertz(slow ? 1 : 50)) { OtherLoop(output: other.writer()) } }
      Lane("supervisor") {
        Loop("supervisor", every: SupervisorLoop.rate) {
          SupervisorLoop(
            watching: [mailbox.state.version, other.version],
            periods: [.zero, slow ? .seconds(1) : .zero], notices: notices.writer(), bell: bell.button,
            heartbeats: HeartbeatSender(socket: pair[0], patience: patience), patience: .seconds(1))
        }
      }
    }
    var reader = notices.reader()
    try body(
      Setup(simulation: try runtime.simulation(), network: network, bell: bell, guardEnd: pair[1]), &reader)
  }

  @Test("every control loop ticks: a heartbeat for every look, a pulse every second")
  func healthy() throws {
    try withSetup { setup, notices in
      setup.simulation.run(for: .seconds(10))
      let heartbeats = setup.heartbeats()
      #expect((99...101).contains(heartbeats.count))
      #expect(heartbeats.map(\.number) == (1...UInt64(heartbeats.count)).map(\.self))
      #expect(zip(heartbeats, heartbeats.dropFirst()).allSatisfy { $1.due - $0.due == 100_000_000 })
      #expect(heartbeats.allSatisfy { $0.advanced == 0b11 && $0.sent >= $0.due })
      var pulses = 0
      var beats: [TickInstant] = []
      while let notice = notices.pop() {
        switch notice {
        case .pulse: pulses += 1
        case .beat(let instant): beats.append(instant)
        case .stalled, .resumed, .guardHangs: Issue.record("\(notice)")
        }
      }
      #expect((10...11).contains(pulses))
      #expect((99...101).contains(beats.count))
      #expect(zip(beats, beats.dropFirst()).allSatisfy { $1 - $0 == .milliseconds(100) })
    }
  }

  @Test(
    "one of two control loops hangs for 3 s: no heartbeat says that it advances, reported after 1 s by its place, and again when it is back",
    arguments: [("robot.motors", 0), ("other", 1)])
  func hang(loop: String, place: Int) throws {
    try withSetup { setup, notices in
      setup.simulation.run(for: .seconds(2))
      _ = setup.heartbeats()
      while notices.pop() != nil {}
      setup.simulation.stall(loop: loop, at: setup.simulation.now, by: .seconds(3))
      setup.simulation.run(for: .milliseconds(2900))
      #expect(setup.heartbeats(of: place) <= 2)
      var news = notices.news()
      guard news.count == 1, case .stalled(place, let span) = news[0] else {
        Issue.record("not reported")
        return
      }
      #expect(span > .seconds(1) && span < .milliseconds(1300))
      setup.simulation.run(for: .milliseconds(500))
      #expect(setup.heartbeats(of: place) >= 3)
      news = notices.news()
      guard case .resumed(place)? = news.first else {
        Issue.record("the return was not reported")
        return
      }
    }
  }

  @Test("a loop that ticks once a second: every heartbeat says that it advances, and its hang is reported after 2.5 s")
  func slow() throws {
    try withSetup(slow: true) { setup, notices in
      setup.simulation.run(for: .seconds(10))
      #expect((95...101).contains(setup.heartbeats(of: 1)))
      #expect(notices.news().allSatisfy { if case .pulse = $0 { true } else { false } })
      setup.simulation.stall(loop: "other", at: setup.simulation.now, by: .seconds(6))
      setup.simulation.run(for: .seconds(5))
      // The loop hangs in its next tick, a second from now; the guard hears silence a second and a half later.
      #expect((15...26).contains(setup.heartbeats(of: 1)))
      let stalls = notices.news().compactMap { if case .stalled(1, let span) = $0 { span } else { nil } }
      #expect(stalls.count == 1 && stalls[0] > .milliseconds(2500) && stalls[0] < .milliseconds(2800))
    }
  }

  @Test(
    "a guard that does not answer: told after the patience, and again when later heartbeats have no answer; one that is gone: not told here"
  )
  func silentGuard() throws {
    try withSetup(patience: .milliseconds(800)) { setup, notices in
      setup.simulation.run(for: .milliseconds(750))
      #expect(!notices.news().contains { if case .guardHangs = $0 { true } else { false } })
      setup.simulation.run(for: .seconds(2))
      #expect(notices.news().count { if case .guardHangs = $0 { true } else { false } } == 3)
      shutdown(setup.guardEnd, Int32(SHUT_RDWR))
      setup.simulation.run(for: .seconds(5))
      #expect(!notices.news().contains { if case .guardHangs = $0 { true } else { false } })
    }
  }
}

/// Another system's control loop.
private struct OtherLoop: ~Copyable, ControlLoop, NoOutput {
  var output: LatestWriter<Int>

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) { output.write(1) }
}

extension RingReader<SupervisorNotice> {
  /// What has come besides beats.
  fileprivate mutating func news() -> [SupervisorNotice] {
    var news: [SupervisorNotice] = []
    while let notice = pop() {
      if case .beat = notice { continue }
      news.append(notice)
    }
    return news
  }
}
