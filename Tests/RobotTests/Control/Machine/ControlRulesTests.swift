import Tactus
import TestSupport
import Testing

@testable import Robot

@Suite(.ownThread) struct ControlRulesTests {
  // MARK: who may drive

  @Test("driving: another source's command is ignored, the first source keeps control")
  func oneController() {
    var line = Timeline(.unramped)
    line.drive(0, 40, 40, from: sourceA)
    #expect(line.drive(10, -40, -40, from: sourceB) == .ignored(.notController))
    #expect(line.at(50, .tick).drives == speeds(40, 40))
  }

  @Test("driving: the controller falls silent, control goes to the next source at the failsafe and not before")
  func controlLapses() {
    var line = Timeline(.unramped)
    line.drive(0, 40, 40, from: sourceA)
    #expect(line.drive(999, -40, -40, from: sourceB).ignored == .notController)
    #expect(line.drive(1_000, -40, -40, from: sourceB) == RobotAction(.stop))
    #expect(line.state.isDriving)
    #expect(line.at(1_050, .tick).drives == speeds(-40, -40))
  }

  @Test("stopped: the controller rests its stick at zero, keeps control, others are ignored")
  func restingKeepsControl() {
    var line = Timeline(.unramped)
    line.drive(0, 40, 40, from: sourceA)
    for time in stride(from: Int64(50), through: 3_000, by: 50) { line.drive(time, 0, 0, from: sourceA) }
    #expect(line.drive(3_010, 20, 20, from: sourceB).ignored == .notController)
    #expect(line.drive(3_020, 20, 20, from: sourceA).drives == speeds(20, 20))
  }

  // MARK: stop

  @Test("driving: zero speeds from the controller, both wheels stop at once without a ramp")
  func zeroStopsAtOnce() {
    var line = Timeline()
    for time in stride(from: Int64(0), through: 500, by: 50) { line.drive(time, 100, 100) }
    #expect(line.drive(510, 0, 0) == RobotAction(.stop))
    #expect(line.state.stopReason == .commanded)
  }

  @Test("driving: an older zero from the controller still stops, does not feed the failsafe nor set the clock back")
  func staleZeroStops() {
    var line = Timeline(.unramped)
    line.drive(0, 40, 40, stamp: 100.5)
    #expect(line.drive(600, 0, 0, stamp: 90.5) == RobotAction(.stop))
    #expect(line.drive(700, 40, 40, stamp: 95.5).ignored == .older)
    #expect(line.drive(1_000, 20, 20, from: sourceB).drives == speeds(20, 20), "control lapsed at 1 s, not at 1.6 s")
  }

  @Test("stopped from outside: another source's zero or stop frees nobody while a stick is held")
  func externalStop() {
    var line = Timeline(.unramped)
    line.drive(0, 40, 40, from: sourceA)
    #expect(line.at(10, .externalStop) == RobotAction(.stop))
    for time in stride(from: Int64(50), through: 3_000, by: 50) {
      #expect(line.drive(time, 40, 40, from: sourceA) == .ignored(.stickNotAtZero))
      line.drive(time + 10, 0, 0, from: sourceB)
      line.stop(time + 20, from: sourceB)
      #expect(line.state.stopReason == .externalStop)
    }
    // A is silent for its failsafe timeout: nobody holds a stick.
    line.drive(4_000, 0, 0, from: sourceB)
    #expect(line.drive(4_050, 20, 20, from: sourceB).drives == speeds(20, 20))
  }

  @Test("stopped from outside: a stop by who held the stick frees it, too")
  func externalStopThenStop() {
    var line = Timeline(.unramped)
    line.drive(0, 40, 40, from: sourceA)
    line.at(10, .externalStop)
    #expect(line.drive(50, 40, 40) == .ignored(.stickNotAtZero))
    line.stop(60)
    #expect(line.drive(100, 40, 40).drives == speeds(40, 40))
  }

  @Test("driving: someone else stops, the motors stop at once and the controller must let go before it drives on")
  func foreignStop() {
    var line = Timeline(.unramped)
    line.drive(0, 40, 40, from: sourceA)
    #expect(line.stop(10, from: sourceB) == RobotAction(.stop))
    #expect(line.state.stopReason == .stoppedBy(sourceB))
    for time in stride(from: Int64(50), through: 3_000, by: 50) {
      #expect(line.drive(time, 40, 40, from: sourceA) == .ignored(.stickNotAtZero), "holding on is no way out")
    }
    #expect(line.drive(3_010, 10, 10, from: sourceB).ignored == .notController, "a stop does not take control")
    line.drive(3_050, 0, 0, from: sourceA)
    #expect(line.drive(3_100, 40, 40, from: sourceA).drives == speeds(40, 40))
  }

  @Test("stopped by another: the controller goes silent, control is free after the failsafe")
  func foreignStopThenSilence() {
    var line = Timeline(.unramped)
    line.drive(0, 40, 40, from: sourceA)
    line.stop(10, from: sourceB)
    #expect(line.drive(1_000, 20, 20, from: sourceB).drives == speeds(20, 20))
  }

  @Test("stopped: the drive command sent before the stop arrives after it, stays stopped")
  func reorderedAroundStop() {
    var line = Timeline(.unramped)
    line.drive(0, 40, 40, stamp: 1.1)
    line.at(100, .command(.stop, timestamp: .at(1.3), from: sourceA))
    #expect(line.drive(101, 40, 40, stamp: 1.2).ignored == .older)
    #expect(line.state.stopReason == .commanded)
  }

  // MARK: order

  @Test("driving: older and repeated timestamps do nothing and do not feed the failsafe")
  func staleDoesNotFeed() {
    var line = Timeline(.unramped)
    line.drive(0, 40, 40, stamp: 100.5)
    for time in stride(from: Int64(50), to: 1_000, by: 50) {
      #expect(line.drive(time, 90, 90, stamp: 100.5) == .ignored(.duplicate))
      #expect(line.drive(time, 90, 90, stamp: 99.5) == .ignored(.older))
    }
    #expect(line.machine.nextDeadline == .milliseconds(1_000))
    #expect(line.at(1_000, .tick) == RobotAction(.stop))
  }

  @Test("driving: equal whole seconds, as the requirement's sender writes them, act in arrival order")
  func wholeSeconds() {
    var line = Timeline(.unramped)
    line.drive(0, 40, 40, stamp: 1_234_567_890)
    #expect(line.drive(50, 60, 60, stamp: 1_234_567_890).drives == speeds(60, 60))
    #expect(line.machine.nextDeadline == .milliseconds(1_050))
  }

  @Test("stopped by silence: the sender restarts with an earlier clock, is obeyed")
  func timestampsAreForgotten() {
    var line = Timeline(.unramped)
    line.drive(0, 40, 40, stamp: 1_000.5)
    line.at(1_000, .tick)
    #expect(line.drive(1_010, 30, 30, stamp: 5.5).drives == speeds(30, 30))
  }

  @Test("driving: a command without a timestamp counts in arrival order and leaves the newest stamp in force")
  func unstamped() {
    var line = Timeline(.unramped)
    line.drive(0, 40, 40, stamp: 100.5)
    #expect(line.drive(50, 30, 30).drives == speeds(30, 30))
    #expect(line.drive(60, 90, 90, stamp: 100.4).ignored == .older)
  }

  // MARK: failsafe

  @Test("driving: silence for the failsafe timeout stops, to the nanosecond")
  func failsafeToTheNanosecond() {
    var line = Timeline(.unramped)
    line.drive(100, 40, 40)
    #expect(line.machine.nextDeadline == .milliseconds(1_100))
    #expect(line.at(TickInstant(nanoseconds: 1_099_999_999), .tick).drives == speeds(40, 40))
    #expect(line.at(TickInstant(nanoseconds: 1_100_000_000), .tick) == RobotAction(.stop))
    #expect(line.state.stopReason == .silence)
    #expect(line.machine.nextDeadline == nil)
  }

  @Test("driving: whatever event comes at the deadline, the motors stop")
  func everyEventExpires() {
    let events: [RobotEvent] = [
      .command(.drive(speeds(9, 9)), from: sourceA), .command(.drive(speeds(9, 9)), from: sourceB),
      .command(.drive(.zero), from: sourceB), .command(.drive(speeds(.nan, 0)), from: sourceA),
      .command(.stop, from: sourceB), .command(.emergencyStop, from: sourceB), .command(.reset, from: sourceB), .tick,
      .driveConfirmed, .driveFailed(MotorFailure(.noAcknowledge)), .stopConfirmed,
      .stopFailed(MotorFailure(.noAcknowledge)), .missed(releases: 3), .settings(.standard), .shutdown,
    ]
    for event in events {
      var line = Timeline(.unramped)
      line.drive(0, 40, 40)
      #expect(line.at(1_000, event).output == .stop, "\(event)")
    }
  }

  @Test("driving: the sender resumes after a gap, drives from rest")
  func resumes() {
    var line = Timeline()
    for time in stride(from: Int64(0), through: 500, by: 50) { line.drive(time, 100, 100) }
    #expect(line.at(1_500, .tick) == RobotAction(.stop))
    #expect(line.drive(1_600, 100, 100).drives == speeds(10, 10))
  }
}
