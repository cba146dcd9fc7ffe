import Tactus
import TestSupport
import Testing
import Wire

@testable import Robot

@Suite(.ownThread) struct RampTests {
  @Test("stopped: a command acts at once with one tick's rise, full speed after 0.5 s at acceleration 50")
  func riseFromRest() {
    var line = Timeline()
    #expect(line.drive(0, 100, -100).drives == speeds(10, -10))
    for step in 1...8 {
      let time = Int64(step) * 50
      let expected = Double(step + 1) * 10
      let output = line.at(time, .tick).drives
      #expect(abs((output?.left.value ?? 0) - expected) < 1e-9 && abs((output?.right.value ?? 0) + expected) < 1e-9)
    }
    #expect(line.at(450, .tick).drives == speeds(100, -100))
    #expect(line.at(500, .tick).drives == speeds(100, -100))
  }

  @Test("ramp: stepped every 50 ms or every 1 ms, the speed is the same at the same instant")
  func independentOfSteps() {
    var coarse = Timeline()
    var fine = Timeline()
    coarse.drive(0, 100, 60)
    fine.drive(0, 100, 60)
    for time in Int64(1)...200 {
      let output = fine.at(time, .tick).drives
      if time % 50 == 0, let expected = coarse.at(time, .tick).drives, let output {
        #expect(abs(output.left.value - expected.left.value) < 1e-9)
        #expect(abs(output.right.value - expected.right.value) < 1e-9)
      }
    }
  }

  @Test("driving: a lower target is reached at once")
  func fallsAtOnce() {
    var line = Timeline()
    for time in stride(from: Int64(0), through: 500, by: 50) { line.drive(time, 100, 100) }
    #expect(line.drive(510, 20, 100).drives == speeds(20, 100))
  }

  @Test("driving: the target changes sign, that wheel stops first and rises the other way from the next step on")
  func signThroughZero() {
    var line = Timeline()
    for time in stride(from: Int64(0), through: 500, by: 50) { line.drive(time, 100, 100) }
    #expect(line.drive(500, -100, 100).drives == speeds(0, 100))
    #expect(line.drive(500, -100, 100).drives == speeds(0, 100), "not within the same instant")
    #expect(line.at(550, .tick).drives == speeds(-10, 100))
  }

  @Test("driving without a ramp: a change of sign still passes through zero at one instant")
  func signThroughZeroUnramped() {
    var line = Timeline(.unramped)
    line.drive(0, 100, 100)
    #expect(line.drive(50, -100, -100).drives == .zero)
    #expect(line.drive(50, -100, -100).drives == .zero)
    #expect(line.at(51, .tick).drives == speeds(-100, -100))
  }

  @Test("several commands at one instant: the last counts, as if it had come alone")
  func lastOfInstant() {
    var line = Timeline()
    #expect(line.drive(0, 5, 5).drives == speeds(5, 5))
    #expect(line.drive(0, 60, 60).drives == speeds(10, 10))
    #expect(line.drive(50, 12, 60).drives == speeds(12, 20))
    #expect(line.drive(50, 60, -60).drives == speeds(20, 0))
    #expect(line.drive(50, -60, -60).drives == .zero)
    #expect(line.drive(50, -60, -60).drives == .zero)
    #expect(line.at(100, .tick).drives == speeds(-10, -10))
  }

  @Test("acceleration: 100 is full speed in 0.25 s, 0 is none")
  func slew() throws {
    var fast = Timeline(try RobotSettings(acceleration: 100))
    #expect(fast.drive(0, 100, 100).drives == speeds(20, 20))
    #expect(fast.at(200, .tick).drives == speeds(100, 100))
    var none = Timeline(.unramped)
    #expect(none.drive(0, 100, 100).drives == speeds(100, 100))
  }

  @Test("speed limit: each wheel is clamped by itself")
  func limit() throws {
    var line = Timeline(try RobotSettings(speedLimit: Percent(50), acceleration: 0))
    #expect(line.drive(0, 100, -30).drives == speeds(50, -30))
  }

  @Test("driving: the speed limit is lowered, the output follows in the same step")
  func limitChanges() throws {
    var line = Timeline(.unramped)
    line.drive(0, 100, 80)
    let slow = try RobotSettings(speedLimit: Percent(30), acceleration: 0)
    #expect(line.at(50, .settings(slow)).drives == speeds(30, 30))
    #expect(line.at(100, .settings(.unramped)).drives == speeds(100, 80), "the command itself was kept")
  }

  @Test("driving: the failsafe is shortened below the silence so far, the motors stop in the same step")
  func failsafeChanges() throws {
    var line = Timeline(.unramped)
    line.drive(0, 100, 100)
    let short = try RobotSettings(failsafeTimeout: .milliseconds(200))
    #expect(line.at(300, .settings(short)) == RobotAction(.stop))
  }

  @Test("settings: out of range, named error")
  func settingsErrors() {
    #expect(throws: RobotSettingsError.speedLimit(Percent(101))) { try RobotSettings(speedLimit: Percent(101)) }
    #expect(throws: RobotSettingsError.acceleration(-1)) { try RobotSettings(acceleration: -1) }
    #expect(throws: RobotSettingsError.self) { try RobotSettings(acceleration: .nan) }
    #expect(throws: RobotSettingsError.failsafeTimeout(.milliseconds(99))) {
      try RobotSettings(failsafeTimeout: .milliseconds(99))
    }
    #expect(
      throws: RobotSettingsError.failsafeShorterThanTwoTicks(.milliseconds(100), tickPeriod: .milliseconds(51))
    ) { try RobotSettings(failsafeTimeout: .milliseconds(100), tickPeriod: .milliseconds(51)) }
    #expect(throws: RobotSettingsError.tickPeriod(.zero)) { try RobotSettings(tickPeriod: .zero) }
    #expect(throws: RobotSettingsError.failuresBeforeFault(0)) { try RobotSettings(failuresBeforeFault: 0) }
  }
}
