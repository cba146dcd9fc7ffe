import Tactus
import TestSupport
import Testing

@testable import Robot

@Suite(.ownThread) struct FaultRulesTests {
  let noAcknowledge = MotorFailure(.noAcknowledge, code: 121)

  @Test("stopped: the stop is written at every tick, confirmed or not")
  func stopIsRepeated() {
    var line = Timeline()
    for time in stride(from: Int64(0), through: 100, by: 50) {
      #expect(line.at(time, .tick) == RobotAction(.stop))
      line.at(time, .stopFailed(noAcknowledge))
      if time == 50 { line.at(time, .stopConfirmed) }
    }
    #expect(line.at(150, .tick) == RobotAction(.stop))
  }

  @Test("driving: a write is not acknowledged three times in a row, fault; a success between starts the count anew")
  func consecutiveFailures() {
    var line = Timeline()
    line.drive(0, 40, 40)
    for time in Int64(1)...4 {
      #expect(line.at(time, .driveFailed(noAcknowledge)) == RobotAction(.none))
      #expect(line.state.isDriving)
      if time % 2 == 0 { line.at(time, .driveConfirmed) }
    }
    line.at(5, .driveFailed(noAcknowledge))
    line.at(6, .driveFailed(noAcknowledge))
    #expect(line.at(7, .driveFailed(noAcknowledge)) == RobotAction(.stop))
    #expect(line.state.faultCause == .motorWrites(noAcknowledge, failures: 3))
  }

  @Test("stopping: failures of the drive count on for the stop")
  func failuresCarryOver() {
    var line = Timeline()
    line.drive(0, 40, 40)
    line.at(1, .driveFailed(noAcknowledge))
    line.stop(2)
    line.at(2, .stopFailed(noAcknowledge))
    #expect(line.state.faultCause == nil)
    line.at(50, .stopFailed(noAcknowledge))
    #expect(line.state.faultCause == .motorWrites(noAcknowledge, failures: 3))
  }

  @Test("driving: the bus times out once, fault at once")
  func stuckBus() {
    var line = Timeline()
    line.drive(0, 40, 40)
    let stuck = MotorFailure(.timedOut, code: 110)
    #expect(line.at(1, .driveFailed(stuck)) == RobotAction(.stop))
    #expect(line.state.faultCause == .motorWrites(stuck, failures: 1))
  }

  @Test("fault: the stop is tried at every tick for ever, nothing drives")
  func faultKeepsStopping() {
    var line = Timeline()
    line.at(0, .missed(releases: 3))
    for time in stride(from: Int64(0), to: 60_000, by: 50) {
      #expect(line.at(time, .tick) == RobotAction(.stop))
      line.at(time, .stopFailed(noAcknowledge))
      #expect(line.drive(time, 50, 50) == .ignored(.inFault))
    }
  }

  @Test("fault: reset before the stop is confirmed, refused; confirmed and sticks at rest, stopped and drivable")
  func resetFault() {
    var line = Timeline(.unramped)
    line.at(0, .missed(releases: 3))
    #expect(line.at(10, .command(.reset, from: sourceC)) == .ignored(.stopNotConfirmed))
    line.at(20, .stopConfirmed)
    #expect(line.at(30, .command(.reset, from: sourceC)).verdict == .accepted)
    #expect(line.state.stopReason == .reset(by: sourceC))
    #expect(line.drive(40, 50, 50).drives == speeds(50, 50))
  }

  @Test("emergency stop: latched; a stick held anywhere refuses the reset until it has been at rest for the failsafe")
  func resetNeedsSticksAtRest() {
    var line = Timeline(.unramped)
    line.drive(0, 50, 50)
    #expect(line.at(10, .command(.emergencyStop, from: sourceB)) == RobotAction(.stop))
    line.at(10, .stopConfirmed)
    #expect(
      line.at(20, .command(.reset, from: sourceC)) == .ignored(.stickNotAtZero),
      "commanded 20 ms ago, before the e-stop")
    #expect(line.drive(500, 50, 50, from: sourceC) == .ignored(.emergencyStopped))
    line.drive(600, 0, 0)
    #expect(line.at(1_499, .command(.reset, from: sourceC)) == .ignored(.stickNotAtZero))
    #expect(line.at(1_500, .command(.reset, from: sourceC)).verdict == .accepted)
  }

  @Test("emergency stop: a stick held since a foreign stop refuses the reset")
  func heldStickAcrossEmergencyStop() {
    var line = Timeline(.unramped)
    line.drive(0, 50, 50)
    line.stop(2_000 - 1_990, from: sourceB)
    for time in stride(from: Int64(50), through: 3_000, by: 50) { line.drive(time, 50, 50) }
    line.at(3_001, .command(.emergencyStop, from: sourceB))
    line.at(3_001, .stopConfirmed)
    #expect(line.at(3_010, .command(.reset, from: sourceB)) == .ignored(.stickNotAtZero))
  }

  @Test("fault: an emergency stop comes on top, keeps the cause; one reset clears both")
  func emergencyStopInFault() {
    var line = Timeline()
    line.at(0, .missed(releases: 7))
    line.at(1, .command(.emergencyStop, from: sourceA))
    guard case .emergencyStopped(let stop) = line.state else {
      Issue.record("not e-stopped: \(line.state)")
      return
    }
    #expect(stop.fault == .missedReleases(7))
    line.at(2, .stopConfirmed)
    #expect(line.at(3, .command(.reset, from: sourceA)).verdict == .accepted)
    #expect(line.state.stopReason == .reset(by: sourceA))
  }

  @Test("driving: the runtime misses releases, fault that names the count")
  func missed() {
    var line = Timeline()
    line.drive(0, 40, 40)
    #expect(line.at(200, .missed(releases: 3)) == RobotAction(.stop))
    #expect(line.state.faultCause == .missedReleases(3))
  }

  @Test("shutdown: stop, and no drive ever after")
  func shutdown() {
    var line = Timeline()
    line.drive(0, 40, 40)
    #expect(line.at(10, .shutdown) == RobotAction(.stop))
    #expect(line.drive(20, 40, 40) == .ignored(.shutDown))
    #expect(line.at(20, .command(.reset, from: sourceA)) == .ignored(.shutDown))
    #expect(line.at(50, .tick) == RobotAction(.stop))
    #expect(line.machine.nextDeadline == nil)
  }

  @Test("words: every state says its cause; what is not drivable says its way out")
  func words() {
    var line = Timeline()
    line.at(0, .stopConfirmed)
    #expect(line.state.description == "stopped: nothing commanded yet" && line.state.wayOut == nil)
    line.drive(1, 40, 40)
    #expect(line.state.description == "driving by 192.168.1.20:50000" && line.state.wayOut == nil)
    line.stop(2, from: sourceC)
    line.at(2, .stopConfirmed)
    #expect(line.state.description == "stopped: by local client 1")
    #expect(line.state.wayOut?.contains("bring its stick to zero") == true)
    line.at(3, .stopFailed(MotorFailure(.timedOut, code: 110)))
    #expect(
      line.state.description
        == "fault: the bus is stuck (errno 110), 1 failed write in a row (stop not confirmed by the motors, 1 failed)")
    #expect(line.state.wayOut?.contains("check their power and wiring") == true)
    line.at(4, .stopConfirmed)
    #expect(line.state.wayOut?.contains("then reset") == true)
    line.at(5, .command(.emergencyStop, from: sourceA))
    #expect(line.state.description.hasPrefix("emergency stop by 192.168.1.20:50000; fault: the bus is stuck"))
    line.at(6, .shutdown)
    #expect(line.state.wayOut == "start the daemon again")
  }
}
