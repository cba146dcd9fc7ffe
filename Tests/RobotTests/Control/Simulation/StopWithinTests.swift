import Buses
import Devices
import Tactus
import TestSupport
import Testing
import Wire

@testable import Robot

/// A Raspbot V2 that drives towards a wall, in simulated time.
@Suite(.ownThread) struct StopWithinTests {
  private func simulation(wall: Double?, acceleration: Double = 50) throws -> RobotSimulation {
    var configuration = RobotSimulation.Configuration(
      try RobotSettings(acceleration: acceleration, stopWithinMillimetres: 200))
    configuration.board = .raspbotV2
    let run = try RobotSimulation(configuration)
    run.vehicle.setWall(wall)
    return run
  }

  @Test("a wall ahead: the robot stands before it, says why and how to go on, and backs away")
  func wall() throws {
    let run = try simulation(wall: 1)
    run.operators[0].set(.wheels(speeds(100, 100)))
    run.run(for: .seconds(5))
    let ahead = 1 - run.world.pose.x
    // 200 mm less what it drives in one interval of the sensor and while the wheels run out, at 0.6 m/s.
    #expect(ahead < 0.2 && ahead > 0.04 && run.world.isAtRest)
    #expect(run.robot.state.forwardStop != nil && run.robot.speeds == .zero)
    #expect(run.robot.ahead?.millimetres == Int(saturating: ahead * 1000))
    let told = run.takeNotices().compactMap { if case .state(let state) = $0.notice { "\(state)" } else { nil } }
    #expect(told.last?.contains("; no forward motion: an obstacle at ") == true)
    run.operators[0].set(.wheels(speeds(-50, -50)))
    run.run(for: .seconds(2))
    #expect(run.world.pose.x < 0.6 && run.robot.state.forwardStop == nil)
    run.operators[0].set(.wheels(speeds(50, 50)))
    run.run(for: .milliseconds(500))
    #expect(run.world.speeds.left > 0.1, "the way is clear again")
  }

  @Test(
    "the sensor gives nothing: forward motion ends 500 ms after the last reading; it works again, a new stick drives")
  func dead() throws {
    let run = try simulation(wall: nil)
    run.operators[0].set(.wheels(speeds(40, 40)))
    run.run(for: .seconds(1))
    #expect(run.robot.speeds == speeds(40, 40) && run.robot.ahead?.millimetres == 4_000)
    run.vehicle.setDistanceSensor(isDead: true)
    run.run(for: .milliseconds(400))
    #expect(run.robot.speeds == speeds(40, 40))
    run.run(for: .milliseconds(250))
    #expect(run.robot.speeds == .zero && run.robot.state.forwardStop == .distanceUnknown)
    run.operators[0].set(.wheels(speeds(-40, 40)))
    run.run(for: .seconds(1))
    #expect(run.robot.speeds == speeds(-40, 40), "turning needs no sensor")
    run.vehicle.setDistanceSensor(isDead: false)
    run.run(for: .milliseconds(200))
    run.operators[0].set(.wheels(speeds(40, 40)))
    run.run(for: .seconds(1))
    #expect(run.robot.speeds == speeds(40, 40))
  }

  @Test("a reading is three transfers of one byte at most every 60 ms, and none while a motor write is repeated")
  func cost() throws {
    let run = try simulation(wall: nil)
    run.run(for: .milliseconds(1_990))
    let reads = run.bus.transactions().filter { $0.operation == .readBlock }
    // At 20 Hz every second tick.
    #expect(reads.count == 3 * 20 && Set(reads.map(\.at)).count == 20)
    let switches = run.bus.transactions().filter { $0.register == 0x07 }
    #expect(switches.count == 1)
    run.bus.inject(.stuck)
    let failed = run.now
    run.run(for: .seconds(1))
    #expect(run.bus.transactions().filter { $0.operation == .readBlock && $0.at > failed + .milliseconds(100) }.isEmpty)
  }

  @Test("a read that fails on the bus ends forward motion at once and is counted")
  func failing() throws {
    let run = try simulation(wall: nil, acceleration: 0)
    run.run(for: .milliseconds(1_020))
    run.request(.command(.drive(speeds(40, 40))), client: 1)
    run.run(for: .milliseconds(50))
    #expect(run.robot.speeds == speeds(40, 40))
    // The next transfer is the first of the reading at 1.1 s.
    run.bus.inject(.noAcknowledge(address: RaspbotV2.standardAddress, count: 3))
    run.run(for: .milliseconds(35))
    #expect(run.robot.speeds == .zero && run.robot.state.forwardStop == .distanceUnknown)
    #expect(run.robot.counters.distanceFailures == 1 && run.robot.counters.writeFailures == 0)
  }
}
