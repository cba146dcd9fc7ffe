import Buses
import Devices
import Tactus
import TestSupport
import Testing
import Wire

@testable import Robot

/// A robot whose board says nothing of how it leans, with inertial sensors of the kernel, in simulated time.
@Suite("Robot: inertial sensors", .ownThread) struct InertialTests {
  private func simulation(_ inertial: RobotSimulation.Inertial?, tilt: Int? = 45) throws -> RobotSimulation {
    var configuration = RobotSimulation.Configuration(try RobotSettings(tiltStopDegrees: tilt))
    configuration.inertial = inertial
    return try RobotSimulation(configuration)
  }

  @Test(
    "leans: roll and pitch are known, and below the limit the robot drives on",
    arguments: [
      RobotSimulation.Inertial.accelerometer, .both,
    ])
  func leans(_ inertial: RobotSimulation.Inertial) throws {
    let run = try simulation(inertial)
    run.operators[0].set(.wheels(speeds(40, 40)))
    (run.lean.rollDegrees, run.lean.pitchDegrees) = (-20, 30)
    run.run(for: .seconds(3))
    let board = run.robot.board
    #expect((try #require(board.roll?.value) + 20).magnitude < 0.5, "\(String(describing: board.roll))")
    #expect((try #require(board.pitch?.value) - 30).magnitude < 0.5, "\(String(describing: board.pitch))")
    #expect(run.robot.speeds == speeds(40, 40))
    #expect(try simulation(nil).robot.board.roll == nil)
  }

  @Test(
    "falls over while it drives: stopped within 700 ms, at 180°/s; upright again it can be reset",
    arguments: [
      RobotSimulation.Inertial.accelerometer, .both,
    ])
  func falls(_ inertial: RobotSimulation.Inertial) throws {
    let run = try simulation(inertial)
    run.operators[0].set(.wheels(speeds(40, 40)))
    run.run(for: .seconds(1))
    run.lean.rollDegrees = 90
    run.run(for: .milliseconds(700))
    #expect(run.robot.state.faultCause != nil && run.robot.speeds == .zero)
    #expect(run.world.target == DifferentialDrive.Speeds())
    run.operators[0].set(.rest)
    run.run(for: .seconds(2))
    run.operators[0].request(.reset)
    run.run(for: .milliseconds(200))
    #expect(run.robot.state.faultCause != nil, "it still lies there")
    run.lean.rollDegrees = 0
    run.run(for: .seconds(3))
    run.operators[0].request(.reset)
    run.run(for: .milliseconds(200))
    #expect(run.robot.state.faultCause == nil)
  }

  @Test("accelerometer gone: the attitude is not known, the robot drives on; back, it is known again")
  func gone() throws {
    let run = try simulation(.both)
    run.operators[0].set(.wheels(speeds(40, 40)))
    run.lean.rollDegrees = 10
    run.run(for: .seconds(2))
    for sensor in run.accelerometer { sensor.inject(.gone) }
    run.run(for: .milliseconds(100))
    #expect(run.robot.board.roll == nil && run.robot.board.pitch == nil && run.robot.speeds == speeds(40, 40))
    for sensor in run.accelerometer { sensor.inject(.none) }
    run.run(for: .milliseconds(100))
    #expect((try #require(run.robot.board.roll?.value) - 10).magnitude < 0.5)
    for sensor in run.accelerometer { sensor.inject(.silence) }
    run.run(for: .milliseconds(700))
    #expect(run.robot.board.roll == nil, "too old")
  }

  @Test("a chip that says zero on all axes: for a second the attitude holds, as in a fall, and then it is not known")
  func zero() throws {
    let sensors = (0..<3).map { _ in SimulatedSensor() }
    let limit = Nanoseconds.milliseconds(500)
    var inertial = InertialSensors(
      accelerometer: AxesInput(
        x: sensors[0].port(staleAfter: limit), y: sensors[1].port(staleAfter: limit),
        z: sensors[2].port(staleAfter: limit)))
    var driver = SimulatedAxesDriver(x: sensors[0].driver(), y: sensors[1].driver(), z: sensors[2].driver())
    func roll(_ acceleration: SIMD3<Double>, at milliseconds: Int64) -> Double? {
      let now = TickInstant.zero + .milliseconds(milliseconds)
      driver.set(acceleration, at: now)
      return inertial.attitude(at: now)?.roll
    }
    #expect(roll([0, 0, 9.8], at: 0) == 0)
    #expect(roll([0, 0, 0], at: 50) == 0 && roll([0, 0, 0], at: 1_000) == 0)
    #expect(roll([0, 0, 0], at: 1_050) == nil && roll([0, 0, 0], at: 5_000) == nil)
    #expect(roll([0, 0, 1e300], at: 5_050) == nil)
    #expect((try #require(roll([0, 9.8, 0], at: 5_100)) - 90).magnitude < 1e-9)
  }
}
