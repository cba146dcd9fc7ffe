import Tactus
import TestSupport
import Testing
import Wire

@testable import Robot

@Suite(.ownThread) struct BalanceTests {
  private func line(acceleration: Double = 50) throws -> Timeline {
    Timeline(try RobotSettings(acceleration: acceleration, batteryStopPercent: 10, tiltStopDegrees: 45))
  }

  @Test("battery at its limit: the motors slow down as the ramp lets them rise, a curve stays one, then nothing drives")
  func batteryStops() throws {
    var line = try line()
    for time in stride(from: Int64(0), through: 500, by: 50) { line.drive(time, 80, 40) }
    line.at(500, .battery(percent: 11))
    #expect(line.at(510, .tick).drives == speeds(80, 40))
    line.at(520, .battery(percent: 10))
    #expect(line.at(560, .tick).drives == speeds(70, 35))
    #expect(line.state.description.hasSuffix("; slowing down: the battery is at 10 %"))
    #expect(line.drive(560, 100, 100).ignored == .batteryEmpty)
    let output = try #require(line.at(660, .tick).drives)
    #expect(abs(output.left.value - 50) < 1e-9 && abs(output.right.value - 25) < 1e-9)
    #expect(line.at(920, .tick).output == .stop)
    #expect(line.state.stopReason == .batteryEmpty(percent: 10))
    #expect(line.state.wayOut == "charge the battery, then bring every stick to zero, or send a stop")
    #expect(line.drive(930, 30, 30).ignored == .batteryEmpty)
    line.drive(940, 0, 0)
    #expect(line.drive(950, 30, 30).ignored == .batteryEmpty, "the battery is still empty")
  }

  @Test("battery charged: five percent above the limit it drives again, once the stick has been at zero")
  func batteryCharged() throws {
    var line = try line(acceleration: 0)
    line.drive(0, 50, 50)
    line.at(10, .battery(percent: 9))
    #expect(line.at(50, .tick).output == .stop, "without a ramp at once")
    line.at(60, .battery(percent: 14))
    #expect(line.drive(70, 50, 50).ignored == .batteryEmpty)
    line.at(80, .battery(percent: 15))
    #expect(line.drive(90, 50, 50).ignored == .stickNotAtZero)
    line.drive(100, 0, 0)
    #expect(line.drive(110, 50, 50).drives == speeds(50, 50))
  }

  @Test("battery empty: a stop, an emergency stop and silence act at once, whatever the ramp")
  func stopsOvertakeTheRamp() throws {
    for end in [RobotEvent.command(.stop, from: sourceB), .command(.emergencyStop, from: sourceB)] {
      var line = try line()
      for time in stride(from: Int64(0), through: 500, by: 50) { line.drive(time, 80, 80) }
      line.at(510, .battery(percent: 5))
      #expect(line.at(520, end).output == .stop && line.state.speeds.isZero)
    }
    var slow = Timeline(try RobotSettings(acceleration: 1, batteryStopPercent: 10))
    for time in stride(from: Int64(0), through: 5_000, by: 50) { slow.drive(time, 80, 80) }
    slow.at(5_010, .battery(percent: 5))
    #expect(slow.at(5_999, .tick).drives != nil)
    #expect(slow.at(6_000, .tick).output == .stop && slow.state.stopReason == .batteryEmpty(percent: 5))
  }

  @Test("tilted beyond the limit for 200 ms: the motors stop, a fault that says how far; upright and reset, it drives")
  func tilt() throws {
    var line = try line(acceleration: 0)
    for time in stride(from: Int64(0), through: 300, by: 50) { line.drive(time, 50, 50) }
    line.at(300, .tilt(degrees: 46))
    #expect(line.at(499, .tilt(degrees: 60)).output == .none)
    #expect(line.at(500, .tilt(degrees: 50.9)).output == .stop)
    #expect(line.state.faultCause == .tilted(degrees: 50))
    #expect(line.state.description.hasPrefix("fault: the robot leans by 50 degrees"))
    line.at(510, .stopConfirmed)
    #expect(line.state.wayOut?.hasPrefix("set the robot upright") == true)
    #expect(line.at(2_000, .command(.reset, from: sourceA)).ignored == .tilted)
    line.at(2_010, .tilt(degrees: 45))
    #expect(line.at(2_020, .command(.reset, from: sourceA)).verdict == .accepted)
    #expect(line.drive(2_030, 50, 50).drives == speeds(50, 50))
  }

  @Test("fallen, and then the board says nothing of it any more: nobody is kept from a reset")
  func attitudeLost() throws {
    var line = try line(acceleration: 0)
    line.drive(0, 50, 50)
    for time in [Int64(100), 300] { line.at(time, .tilt(degrees: 80)) }
    line.at(310, .stopConfirmed)
    #expect(line.at(2_000, .command(.reset, from: sourceA)).ignored == .tilted)
    line.at(2_300, .attitudeLost)
    #expect(line.at(2_310, .command(.reset, from: sourceA)).verdict == .accepted)
  }

  @Test("tilted for less than 200 ms, again and again: drives on")
  func bumps() throws {
    var line = try line(acceleration: 0)
    for time in stride(from: Int64(0), through: 3_000, by: 100) {
      line.at(time, .tilt(degrees: time % 300 == 0 ? 10 : 80))
      #expect(line.drive(time, 50, 50).drives == speeds(50, 50))
    }
  }
}
