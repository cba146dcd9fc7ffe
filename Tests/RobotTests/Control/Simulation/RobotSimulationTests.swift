import Buses
import Devices
import Tactus
import TestSupport
import Testing
import Wire

@testable import Robot

extension RobotSimulation {
  /// Instants at which the board was told to stop since `instant`.
  func stops(since instant: TickInstant) -> [TickInstant] {
    bus.transactions().filter { $0.register == 2 && $0.at >= instant }.map(\.at)
  }
}

extension SimulatedVehicleSnapshot {
  /// Below a tenth of a millimetre a second: the wheels run out as e^(−t/0.15 s).
  var isAtRest: Bool { abs(speeds.left) < 1e-4 && abs(speeds.right) < 1e-4 }
}

@Suite(.ownThread) struct RobotSimulationTests {
  @Test("requests: each releases the loop when it is made, at most once a millisecond; the periods stay")
  func requestReleases() throws {
    var configuration = RobotSimulation.Configuration()
    configuration.operators = 0
    let run = try RobotSimulation(configuration)
    run.run(for: .milliseconds(13))
    run.request(.command(.drive(speeds(30, 30))), client: 1)
    run.run(for: .microseconds(400))
    run.request(.command(.drive(speeds(40, 40))), client: 1)
    run.request(.command(.stop), client: 2)
    run.run(for: .milliseconds(60))
    let answers = run.takeAnswers()
    #expect(answers.map(\.at.nanoseconds) == [13_000_000, 14_000_000, 14_000_000])
    #expect(answers.map(\.verdict) == [.accepted, .accepted, .accepted])
    let counters = try #require(run.statistics[RobotSimulation.robotLoop]).counters
    #expect(counters.byInput == 2 && counters.ran == 2)
  }

  /// How old commands were when the motors had them.
  private func ages(_ run: RobotSimulation) throws -> AgeStatistics {
    try #require(run.statistics[RobotSimulation.robotLoop]?.ages.first)
  }

  @Test(
    "age of a command: from its request to the end of the tick that wrote it, a stop's too; periods that repeat it add none"
  )
  func commandAge() throws {
    var configuration = RobotSimulation.Configuration()
    configuration.operators = 0
    let run = try RobotSimulation(configuration)
    run.stallRobot(at: .milliseconds(100), by: .milliseconds(40))
    run.run(for: .milliseconds(110))
    run.request(.command(.drive(speeds(30, 30))), client: 1)
    run.run(for: .milliseconds(10))
    // The newer one is what the motors get.
    run.request(.command(.drive(speeds(40, 40))), client: 1)
    run.request(.command(.query), client: 1)
    run.run(for: .milliseconds(200))
    let driven = try ages(run)
    #expect(driven.age.count == 1 && driven.last == .milliseconds(20) && driven.unsampled == 0)
    run.stallRobot(at: .milliseconds(350), by: .milliseconds(7))
    run.run(for: .milliseconds(352) - (run.now - .zero))
    run.request(.command(.stop), client: 2)
    run.run(for: .milliseconds(100))
    #expect(try ages(run).age.count == 2 && ages(run).last == .milliseconds(5))
    // In a tick of the period, too, which repeats what it has just read.
    run.request(.command(.stop), client: 1)
    run.run(for: .milliseconds(38))
    let before = try ages(run).age.count
    run.stallRobot(at: .milliseconds(500), by: .milliseconds(60))
    run.run(for: .milliseconds(555) - (run.now - .zero))
    run.request(.command(.drive(speeds(0, 20))), client: 1)
    run.run(for: .milliseconds(20))
    #expect(try ages(run).age.count == before + 1 && ages(run).last == .milliseconds(5))
  }

  @Test("age of a command: none for what the motors did not take, nor for what was refused")
  func noCommandAge() throws {
    var configuration = RobotSimulation.Configuration()
    configuration.operators = 0
    let run = try RobotSimulation(configuration)
    run.run(for: .milliseconds(110))
    run.bus.inject(.stuck)
    run.request(.command(.drive(speeds(30, 30))), client: 1)
    run.run(for: .milliseconds(100))
    run.request(.command(.drive(speeds(30, 30))), client: 1)
    run.run(for: .milliseconds(100))
    #expect(run.robot.state.faultCause != nil)
    // Refused in a tick of the period, which writes a stop of its own.
    run.bus.clearFaults()
    run.run(for: .milliseconds(440) - (run.now - .zero))
    run.stallRobot(at: .milliseconds(500), by: .milliseconds(60))
    run.run(for: .milliseconds(115))
    run.request(.command(.drive(speeds(30, 30))), client: 1)
    run.run(for: .milliseconds(45))
    #expect(try ages(run).age.count == 0)
  }

  @Test("age of a command: a datagram counts from its arrival; no command is older than the planner's bound")
  func datagramAge() throws {
    var configuration = RobotSimulation.Configuration()
    configuration.operators = 2
    configuration.conditions.delay = .milliseconds(3)
    configuration.conditions.jitter = .milliseconds(2)
    let run = try RobotSimulation(configuration)
    run.operators[0].set(.wheels(speeds(50, 50)))
    run.run(for: .seconds(1))
    let calm = try ages(run)
    #expect(calm.age.count > 15 && calm.age.minimum == .zero && calm.age.maximum! <= .milliseconds(1))
    #expect(calm.bound == .milliseconds(1) && calm.isBoundMeasured && calm.arrival == .releasesLoop)
    // A tick of the period takes 30 ms, and a datagram arrives after the first ten of them.
    run.stallRobot(at: .milliseconds(1_050), by: .milliseconds(30))
    run.run(for: .milliseconds(95))
    let stalled = try ages(run)
    #expect(stalled.age.maximum! > .milliseconds(15) && stalled.age.maximum! < .milliseconds(22))
  }

  private func simulation(
    _ seed: UInt64 = 1, operators: Int = 1, _ change: (inout SimulatedNetwork.Conditions) -> Void = { _ in }
  ) throws -> RobotSimulation {
    var configuration = RobotSimulation.Configuration()
    configuration.seed = seed
    configuration.operators = operators
    configuration.conditions.delay = .milliseconds(3)
    change(&configuration.conditions)
    return try RobotSimulation(configuration)
  }

  @Test("operator drives forward for two seconds: the robot moves about a metre, straight on; hands off, it stands")
  func drives() throws {
    let run = try simulation()
    run.operators[0].set(.joystick(x: 0, y: 1))
    run.run(for: .seconds(2))
    let world = run.world
    // 2 s at 0.6 m/s, less half of the ramp's 0.5 s and the wheels' lag of 0.15 s.
    #expect((0.85...1.0).contains(world.pose.x) && abs(world.pose.y) < 1e-9)
    #expect(run.robot.speeds == speeds(100, 100))
    run.operators[0].set(.rest)
    run.run(for: .seconds(3))
    #expect(run.world.isAtRest && run.robot.state.stopReason == .commanded)
  }

  @Test("operator vanishes: the board is told to stop exactly one second after the last command came in")
  func vanishes() throws {
    let run = try simulation()
    run.operators[0].set(.joystick(x: 0.2, y: 0.7))
    run.run(for: .milliseconds(3_111))
    run.network.conditions.lossPerMille = 1_000
    let cut = run.now
    run.run(for: .milliseconds(500))
    guard let last = run.robot.holder?.lastCommand else {
      Issue.record("nobody controls: \(run.robot.state)")
      return
    }
    run.run(for: .seconds(2))
    let first = run.stops(since: cut).first
    #expect(first == last + .seconds(1))
    #expect(run.robot.state.stopReason == .silence)
    #expect(run.world.isAtRest)
    #expect(run.statistics[RobotSimulation.robotLoop]?.counters.byDeadline == 1)
    guard case .lost(let silence) = run.operators[0].snapshot.connection else {
      Issue.record("the operator does not see it: \(run.operators[0].snapshot.connection)")
      return
    }
    #expect((Nanoseconds.milliseconds(2_400)...Nanoseconds.milliseconds(2_600)).contains(silence))
    run.network.conditions.lossPerMille = 0
    run.run(for: .milliseconds(100))
    #expect(run.robot.state.isDriving, "the link is back")
  }

  @Test("bad link, 20 % lost, doubled, overtaken: drives on, never acts on an old command, no stop by silence")
  func badLink() throws {
    for seed in UInt64(1)...10 {
      let run = try simulation(seed) {
        $0.lossPerMille = 200
        $0.duplicationPerMille = 200
        $0.reorderingPerMille = 200
        $0.reorderHold = .milliseconds(120)
        $0.jitter = .milliseconds(20)
      }
      run.operators[0].set(.joystick(x: 0, y: 0.5))
      run.run(for: .seconds(60))
      let robot = run.robot
      #expect(robot.speeds == speeds(50, 50), "seed \(seed)")
      #expect(robot.counters.ignored(.older) > 50 && robot.counters.ignored(.duplicate) > 50, "seed \(seed)")
      let states = run.takeNotices()
      #expect(states.count == 1, "seed \(seed): driving, and nothing else")
      // The newest word is zero; a straggler must not start the robot again.
      run.operators[0].set(.rest)
      run.run(for: .milliseconds(400))
      run.network.conditions.lossPerMille = 1_000
      run.run(for: .milliseconds(400))
      #expect(run.robot.state.stopReason == .commanded, "seed \(seed)")
    }
  }

  @Test("stuck bus: fault at once, the loop keeps its rate; bus free and reset by the operator, it drives again")
  func stuckBus() throws {
    let run = try simulation()
    run.operators[0].set(.joystick(x: 0, y: 1))
    run.run(for: .seconds(1))
    run.bus.inject(.stuck)
    run.run(for: .milliseconds(50))
    #expect(run.robot.state.faultCause?.shortText == ShortText("bus-stuck"))
    run.run(for: .seconds(1))
    #expect(run.operators[0].snapshot.heard?.reply.state == .fault)
    let before = run.statistics[RobotSimulation.robotLoop]!.counters
    run.run(for: .seconds(10))
    let after = run.statistics[RobotSimulation.robotLoop]!.counters
    #expect(after.ran - before.ran == 200 && after.skipped == 0)

    run.operators[0].request(.reset)
    run.run(for: .milliseconds(100))
    #expect(run.operators[0].snapshot.refusedResets == 1, "the stick is held")
    run.operators[0].set(.rest)
    run.run(for: .milliseconds(1_100))
    run.operators[0].request(.reset)
    run.run(for: .milliseconds(100))
    #expect(run.robot.state.faultCause != nil, "the stop is not confirmed")
    run.bus.clearFaults()
    run.run(for: .milliseconds(100))
    run.operators[0].request(.reset)
    run.run(for: .milliseconds(100))
    run.operators[0].set(.joystick(x: 0, y: 1))
    run.run(for: .seconds(1))
    #expect(run.robot.state.isDriving && run.world.speeds.left > 0.5)
  }

  @Test("emergency stop over UDP: motors off at once, latched against the held stick, reset after letting go")
  func emergencyStop() throws {
    let run = try simulation(operators: 2)
    run.operators[0].set(.joystick(x: 0, y: 1))
    run.run(for: .seconds(1))
    let pulled = run.now
    run.operators[1].request(.emergencyStop)
    run.run(for: .seconds(5))
    let first = run.stops(since: pulled).first
    // The second operator's next tick, and the way.
    #expect(first! <= pulled + .milliseconds(53))
    #expect(run.robot.isEmergencyStopped && run.world.isAtRest)
    #expect(run.robot.counters.ignored(.emergencyStopped) > 90)
    #expect(run.operators[0].snapshot.heard?.reply.state == .emergencyStop)

    run.operators[0].set(.rest)
    run.run(for: .milliseconds(1_200))
    run.operators[1].request(.reset)
    run.run(for: .milliseconds(100))
    #expect(run.robot.state.stopReason != nil)
  }

  @Test("two operators: the second is told who is in control; the first leaves, the second drives a second later")
  func twoOperators() throws {
    let run = try simulation(operators: 2)
    run.operators[0].set(.joystick(x: 0, y: 0.5))
    run.run(for: .seconds(1))
    run.operators[1].set(.joystick(x: 0, y: -0.5))
    run.run(for: .seconds(1))
    #expect(run.robot.holder?.source == .datagram(run.operators[0].endpoint))
    #expect(run.operators[1].snapshot.heard?.reply.reason == ShortText("not-controller"))
    run.operators[0].request(.quit)
    run.run(for: .seconds(2))
    #expect(run.robot.holder?.source == .datagram(run.operators[1].endpoint))
    #expect(run.robot.speeds == speeds(-50, -50))
  }

  @Test("two operators: who is refused, lets go and leaves changes nothing for who drives")
  func refusedOperator() throws {
    let run = try simulation(operators: 2)
    run.operators[0].set(.joystick(x: 0, y: 0.5))
    run.run(for: .seconds(1))
    let since = run.now
    run.operators[1].set(.joystick(x: 0, y: -0.5))
    run.run(for: .milliseconds(500))
    run.operators[1].set(.rest)
    run.run(for: .milliseconds(500))
    run.operators[1].request(.quit)
    run.run(for: .milliseconds(500))
    #expect(run.robot.speeds == speeds(50, 50) && run.stops(since: since).isEmpty)
    #expect(run.robot.counters.ignored(.notController) >= 9)
  }

  @Test("lane stalls past three releases: fault that says so, motors stopped by the next instant the lane has")
  func stall() throws {
    let run = try simulation()
    run.operators[0].set(.joystick(x: 0, y: 1))
    run.run(for: .seconds(1))
    run.stallRobot(at: run.now, by: .milliseconds(400))
    run.run(for: .seconds(3))
    #expect(run.robot.state.description.hasPrefix("fault: the control loop missed"))
    #expect(run.world.isAtRest)
  }

  @Test("health: round trip is twice the delay of the link")
  func roundTrip() throws {
    let run = try simulation()
    run.run(for: .seconds(1))
    #expect(run.operators[0].snapshot.connection == .alive(roundTrip: .milliseconds(6)))
    #expect(run.operators[0].snapshot.replies == run.robot.counters.replies)
  }

  @Test("runtime stops: both sides stop the motors, nothing drives after")
  func stops() throws {
    let run = try simulation()
    run.operators[0].set(.joystick(x: 0, y: 1))
    run.run(for: .seconds(1))
    run.stop()
    #expect(run.robot.state == .shutDown(.confirmed))
    #expect(run.stops(since: run.now).count == 1)
    #expect(run.operators[0].snapshot.state == .finished)
  }

  @Test("same seed: same trace, same world; another seed: another")
  func sameSeed() throws {
    func trace(_ seed: UInt64) throws -> (UInt64, Double) {
      let run = try simulation(seed) {
        $0.lossPerMille = 100
        $0.jitter = .milliseconds(10)
      }
      run.operators[0].set(.joystick(x: 0.3, y: 0.8))
      run.run(for: .seconds(30))
      return (run.traceHash, run.world.pose.x)
    }
    let first = try trace(5)
    #expect(try trace(5) == first)
    #expect(try trace(6).0 != first.0)
  }
}
