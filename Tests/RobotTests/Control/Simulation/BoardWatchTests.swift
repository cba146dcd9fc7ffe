import Buses
import Devices
import Tactus
import TestSupport
import Testing
import Wire

@testable import Robot

/// An XGO Rider that is asked for its battery and attitude while it drives, in simulated time.
@Suite(.ownThread) struct BoardWatchTests {
  private func simulation(low: Int? = nil, stop: Int? = nil, tilt: Int? = nil) throws -> RobotSimulation {
    var configuration = RobotSimulation.Configuration(
      try RobotSettings(batteryStopPercent: stop, tiltStopDegrees: tilt))
    configuration.board = .xgoRider
    configuration.batteryLowPercent = low
    return try RobotSimulation(configuration)
  }

  @Test("battery and attitude are known within half a second, with one request a tick after the motor write")
  func readings() throws {
    let run = try simulation()
    let rider = try #require(run.rider)
    (rider.batteryPercent, rider.rollDegrees, rider.pitchDegrees) = (63, -3.5, 7)
    run.operators[0].set(.wheels(speeds(40, 40)))
    run.run(for: .milliseconds(490))
    let board = run.robot.board
    #expect(board.battery?.value == 63 && board.roll?.value == -3.5 && board.pitch?.value == 7 && board.timeouts == 0)
    // A command is one write of 18 bytes, a request one of 9.
    let writes = run.line.transactions().filter { $0.direction == .sent }
    let requests = writes.filter { $0.count == 9 }
    #expect(requests.count == 10 && Set(requests.map(\.at)).count == 10)
    for request in requests {
      let beside = writes.filter { $0.at == request.at }
      #expect(beside.count == 2 && beside.last?.count == 9, "the motors first")
    }
    run.run(for: .seconds(10))
    let battery = run.line.transactions().filter { $0.direction == .sent && $0.count == 9 && $0.bytes[4] == 0x01 }
    #expect(battery.count <= 2, "the battery every ten seconds")
  }

  @Test("board leaves reads unanswered: one request a second, commands and stops go on, the attitude is not known")
  func silent() throws {
    let run = try simulation(tilt: 45)
    let rider = try #require(run.rider)
    run.operators[0].set(.wheels(speeds(40, 40)))
    run.run(for: .seconds(1))
    rider.leavesReadsUnanswered = true
    run.run(for: .seconds(5))
    #expect(run.robot.board.roll == nil && run.robot.board.pitch == nil)
    #expect((4...6).contains(run.robot.board.timeouts))
    #expect(run.robot.speeds == speeds(40, 40) && run.robot.counters.writeFailures == 0)
    run.operators[0].request(.stop)
    run.run(for: .milliseconds(60))
    #expect(run.robot.speeds == .zero)
    rider.leavesReadsUnanswered = false
    run.run(for: .milliseconds(1_500))
    #expect(run.robot.board.roll?.value == 0)
  }

  @Test("battery runs down: low is told once, at the stop limit the robot slows down and stands, charged it drives")
  func battery() throws {
    let run = try simulation(low: 20, stop: 10)
    let rider = try #require(run.rider)
    func told() -> [Int] {
      run.takeNotices().compactMap { if case .batteryLow(let percent) = $0.notice { percent } else { nil } }
    }
    run.operators[0].set(.wheels(speeds(40, 40)))
    run.run(for: .seconds(5))
    #expect(told().isEmpty && !run.robot.board.isBatteryLow)
    rider.batteryPercent = 20
    run.run(for: .seconds(25))
    #expect(told() == [20] && run.robot.board.isBatteryLow && run.robot.speeds == speeds(40, 40))
    rider.batteryPercent = 10
    run.run(for: .seconds(12))
    #expect(run.robot.state.stopReason == .batteryEmpty(percent: 10) && run.world.isAtRest)
    rider.batteryPercent = 90
    run.run(for: .seconds(12))
    #expect(run.robot.speeds == .zero, "a stick that is held drives nothing")
    run.operators[0].set(.rest)
    run.run(for: .milliseconds(200))
    run.operators[0].set(.wheels(speeds(40, 40)))
    run.run(for: .seconds(1))
    #expect(run.robot.speeds == speeds(40, 40) && !run.robot.board.isBatteryLow)
  }

  @Test("falls over while it drives: the board is told to stop within 400 ms, and stays so")
  func falls() throws {
    let run = try simulation(tilt: 45)
    let rider = try #require(run.rider)
    run.operators[0].set(.wheels(speeds(40, 40)))
    run.run(for: .seconds(1))
    rider.pitchDegrees = -80
    run.run(for: .milliseconds(400))
    #expect(run.robot.state.faultCause == .tilted(degrees: 80) && run.robot.speeds == .zero)
    #expect(run.world.target == DifferentialDrive.Speeds())
    run.operators[0].set(.rest)
    run.run(for: .seconds(2))
    run.operators[0].request(.reset)
    run.run(for: .milliseconds(200))
    #expect(run.robot.state.faultCause != nil, "it still lies there")
    // Nobody knows then how far it leans.
    rider.leavesReadsUnanswered = true
    run.run(for: .seconds(3))
    run.operators[0].request(.reset)
    run.run(for: .milliseconds(200))
    #expect(run.robot.state.faultCause == nil)
  }
}
