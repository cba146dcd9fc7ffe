import Buses
import Devices
import Tactus
import TestSupport
import Testing
import Wire

@testable import Robot

/// A robot whose camera mount, lights, buzzer, line sensor, height and balance are told over a board's bus, in simulated time.
@Suite(.ownThread) struct FittingsSimulationTests {
  private func simulation(
    _ board: RobotBoard, mount: CameraMountSettings? = nil, readsLine: Bool = false, tilt: Int? = nil
  ) throws -> RobotSimulation {
    var configuration = RobotSimulation.Configuration(try RobotSettings(acceleration: 0, tiltStopDegrees: tilt))
    (configuration.board, configuration.mount, configuration.readsLine) = (board, mount, readsLine)
    return try RobotSimulation(configuration)
  }

  private func refusals(_ run: RobotSimulation) -> [IgnoreReason] {
    run.takeAnswers().compactMap { if case .refused(let reason) = $0.verdict { reason } else { nil } }
  }

  @Test(
    "look: the mount turns while the robot drives, after the motor write of its tick, by one write a tick",
    arguments: [RobotBoard.ybPcbCar, .raspbotV2])
  func look(board: RobotBoard) throws {
    let run = try simulation(board)
    run.run(for: .milliseconds(120))
    run.operators[0].set(.wheels(speeds(40, 40)))
    run.request(.fitting(.look(pan: 90, tilt: 50)), client: 1)
    run.run(for: .milliseconds(200))
    #expect(run.world.pan == 90 && run.world.tilt == 50)
    run.request(.fitting(.look(pan: 0, tilt: 100)), client: 2)
    run.run(for: .milliseconds(300))
    #expect(run.robot.fittings.pan.target == 0 && (1..<90).contains(Int(run.world.pan ?? 0)))
    run.run(for: .seconds(2))
    #expect(run.world.pan == 0 && run.world.tilt == 100 && run.world.ignored == 0)
    #expect(run.robot.speeds == speeds(40, 40))
    let register: UInt8 = board == .raspbotV2 ? 0x02 : 0x03
    let writes = run.bus.transactions()
    let turns = writes.filter { $0.register == register && $0.bytes.count == 2 }
    #expect(turns.count > 10 && Set(turns.map(\.at)).count == turns.count)
    for turn in turns { #expect(writes.last { $0.at == turn.at }?.sequence == turn.sequence, "the motors first") }
    #expect(refusals(run).isEmpty)
  }

  @Test("emergency stop while the mount turns: no angle is written from that release on, nor after a reset")
  func emergencyStop() throws {
    let run = try simulation(.raspbotV2)
    run.request(.fitting(.look(pan: 0, tilt: nil)), client: 1)
    run.run(for: .milliseconds(210))
    run.request(.fitting(.look(pan: 180, tilt: nil)), client: 1)
    run.run(for: .milliseconds(300))
    let angle = try #require(run.world.pan)
    #expect((1..<180).contains(angle))
    // Both in one tick.
    run.request(.command(.emergencyStop), client: 2)
    run.request(.command(.reset), client: 2)
    run.run(for: .seconds(1))
    #expect(run.robot.state.stopReason != nil, "the reset was obeyed")
    #expect(run.world.pan == angle && run.robot.fittings.pan.target.map { UInt8(clamping: $0) } == angle)
    run.request(.command(.emergencyStop), client: 2)
    run.request(.fitting(.look(pan: 90, tilt: nil)), client: 1)
    run.run(for: .seconds(1))
    #expect(refusals(run) == [.emergencyStopped] && run.world.pan == angle)
  }

  @Test("fault and missed releases: the mount stays, a beep ends")
  func fault() throws {
    let run = try simulation(.raspbotV2)
    run.request(.fitting(.look(pan: 0, tilt: nil)), client: 1)
    run.run(for: .milliseconds(210))
    run.request(.fitting(.look(pan: 180, tilt: nil)), client: 1)
    run.request(.fitting(.beep(.seconds(5))), client: 1)
    run.run(for: .milliseconds(200))
    #expect(run.world.isBuzzing)
    // The tick that stalls has its step; what comes after the missed releases is none.
    run.stallRobot(at: run.now, by: .milliseconds(450))
    run.run(for: .milliseconds(550))
    let angle = try #require(run.world.pan)
    #expect(run.robot.state.faultCause != nil && (1..<180).contains(angle) && !run.world.isBuzzing)
    run.run(for: .seconds(1))
    #expect(run.world.pan == angle)
  }

  @Test("an order that waited longer than 250 ms for the loop does nothing")
  func stale() throws {
    let run = try simulation(.raspbotV2)
    run.run(for: .milliseconds(110))
    run.stallRobot(at: run.now, by: .milliseconds(320))
    run.run(for: .milliseconds(45))
    run.request(.fitting(.look(pan: 10, tilt: nil)), client: 1)
    run.request(.fitting(.beep(.seconds(1))), client: 1)
    run.run(for: .seconds(1))
    #expect(run.world.pan == nil && !run.world.isBuzzing && refusals(run) == [.stale, .stale])
  }

  @Test("beep: on for its time and no longer, off at the end of the program, however long it was to sound")
  func beep() throws {
    let run = try simulation(.raspbotV2)
    run.run(for: .milliseconds(110))
    #expect(run.bus.transactions().filter { $0.register == 0x06 }.map { $0.bytes[0] } == [0], "off at the start")
    run.request(.fitting(.beep(.milliseconds(300))), client: 1)
    run.run(for: .milliseconds(100))
    #expect(run.world.isBuzzing && run.robot.fittings.isBuzzing == true)
    run.run(for: .milliseconds(300))
    #expect(!run.world.isBuzzing)
    run.request(.fitting(.beep(.seconds(5))), client: 1)
    run.request(.fitting(.light(LightColour(red: 255, green: 128), light: nil)), client: 1)
    run.run(for: .milliseconds(150))
    #expect(run.world.isBuzzing && run.world.lights[13] == LightColour(red: 255, green: 128))
    run.stop()
    #expect(!run.world.isBuzzing && run.world.lights[0] == LightColour() && run.world.lights[13] == LightColour())
  }

  @Test(
    "the bus is stuck: nothing is told beside the stop; once it is free the buzzer is silenced before anything else")
  func stuck() throws {
    let run = try simulation(.raspbotV2)
    run.run(for: .milliseconds(110))
    run.request(.fitting(.beep(.milliseconds(100))), client: 1)
    run.run(for: .milliseconds(60))
    #expect(run.world.isBuzzing)
    run.bus.inject(.stuck)
    let stuck = run.now
    run.run(for: .seconds(1))
    let tried = run.bus.transactions().filter { $0.at > stuck + .milliseconds(60) && $0.register != 0x01 }
    #expect(tried.isEmpty && run.robot.counters.fittingFailures <= 1)
    run.request(.fitting(.light(LightColour(blue: 1), light: nil)), client: 1)
    run.bus.clearFaults()
    run.run(for: .milliseconds(110))
    #expect(!run.world.isBuzzing)
    let freed = run.bus.transactions().filter { $0.result >= 0 && $0.at > stuck + .seconds(1) && $0.register != 0x01 }
    #expect(freed.first?.register == 0x06)
  }

  @Test("a servo write that fails is counted, made again, and stops no motor")
  func failing() throws {
    let run = try simulation(.ybPcbCar)
    run.operators[0].set(.wheels(speeds(40, 40)))
    run.run(for: .milliseconds(500))
    run.request(.fitting(.look(pan: 90, tilt: nil)), client: 1)
    run.run(for: .milliseconds(40))
    // The next periodic tick writes the motors, then the servo, which every attempt fails for.
    let before = run.robot.counters.writeFailures
    run.bus.inject(.noAcknowledge(address: YBPcbCar.standardAddress, count: 6))
    run.run(for: .milliseconds(300))
    #expect(run.world.pan == 90 && run.robot.counters.fittingFailures + run.robot.counters.writeFailures - before >= 1)
    #expect(run.robot.speeds == speeds(40, 40))
  }

  @Test(
    "line sensor: read at most every 50 ms where that is asked for, and nothing else; a failed read or no sensor's byte is none"
  )
  func line() throws {
    let run = try simulation(.raspbotV2, readsLine: true)
    run.vehicle.setLine(0b0101)
    run.run(for: .milliseconds(990))
    #expect(run.robot.line?.probes == LineProbes(byte: 0b0101))
    let probes = try #require(run.robot.line?.probes)
    #expect(!probes.x1 && probes.x2 && !probes.x3 && probes.x4)
    let reads = run.bus.transactions().filter { $0.operation == .readBlock }
    #expect(reads.count == 20 && reads.allSatisfy { $0.register == 0x0A })
    run.vehicle.setLine(0xFF)
    run.run(for: .milliseconds(60))
    #expect(run.robot.line == nil && run.robot.counters.lineFailures == 0)
    run.vehicle.setLine(0)
    run.run(for: .milliseconds(60))
    #expect(run.robot.line?.probes == LineProbes(byte: 0))
    let without = try simulation(.raspbotV2)
    without.run(for: .seconds(1))
    #expect(without.bus.transactions().allSatisfy { $0.operation != .readBlock } && without.robot.line == nil)
  }

  @Test(
    "height and balance of an XGO Rider: one write of 9 bytes each, after the motors' and in place of a request; refused when it has fallen"
  )
  func rider() throws {
    let run = try simulation(.xgoRider)
    let rider = try #require(run.rider)
    run.run(for: .milliseconds(510))
    let before = run.now
    run.request(.fitting(.height(millimetres: 100)), client: 1)
    run.request(.fitting(.balance(false)), client: 1)
    run.run(for: .milliseconds(200))
    #expect(abs((run.world.heightMillimetres ?? 0) - 100) < 0.3 && run.world.isBalancing == false)
    #expect(run.robot.fittings.height == 100 && run.robot.fittings.isBalancing == false)
    let writes = run.line.transactions().filter { $0.direction == .sent && $0.at > before }
    for register in [0x35, 0x61] as [UInt8] {
      let told = writes.filter { $0.count == 9 && $0.bytes[3] == 1 && $0.bytes[4] == register }
      #expect(told.count == 1)
      #expect(writes.filter { $0.at == told.first?.at }.count == 2)
    }
    // Without a limit of the file the height is refused beyond 45 degrees.
    rider.rollDegrees = 50
    run.run(for: .milliseconds(500))
    run.request(.fitting(.height(millimetres: 60)), client: 1)
    run.run(for: .milliseconds(100))
    #expect(refusals(run) == [.tilted] && run.robot.fittings.height == 100)
  }
}
