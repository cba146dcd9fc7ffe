import Tactus
import TestSupport
import Testing
import Wire

@testable import Robot

@Suite(.ownThread) struct GeometryTests {
  private let geometry = RobotSettings.measured.geometry!

  @Test("twist: ahead, in a curve and on the spot are these wheel speeds; the left turn is positive")
  func conversion() {
    func wheels(_ metresPerSecond: Double, _ radiansPerSecond: Double) -> WheelSpeeds {
      let (speeds, share) = geometry.wheels(twist(metresPerSecond, radiansPerSecond), limit: Percent(100))
      #expect(share == 1)
      return speeds
    }
    #expect(wheels(0.25, 0) == speeds(50, 50))
    #expect(wheels(-0.5, 0) == speeds(-100, -100))
    // 1 rad/s is 0.1 m/s at a wheel that is 0.1 m from the middle.
    #expect(wheels(0, 1) == speeds(-20, 20))
    #expect(wheels(0.25, -1) == speeds(70, 30))
  }

  @Test("twist beyond the wheels: both are scaled together, the curve stays and the answer has the share")
  func scaled() {
    var random = SplitMix64(seed: 7)
    for _ in 0..<20_000 {
      let limit = Percent(.random(in: 1...100, using: &random))
      let asked = twist(.random(in: -100...100, using: &random), .random(in: -100...100, using: &random))
      let (wheels, share) = geometry.wheels(asked, limit: limit)
      let largest = max(wheels.left.value.magnitude, wheels.right.value.magnitude)
      #expect(largest <= limit.value && share > 0 && share <= 1)
      if share < 1 { #expect(largest > limit.value - 1e-9, "no slower than it must") }
      let driven = geometry.twist(wheels)
      #expect((driven.metresPerSecond - asked.metresPerSecond * share).magnitude < 1e-9)
      #expect((driven.radiansPerSecond - asked.radiansPerSecond * share).magnitude < 1e-9)
    }
  }

  @Test("twist at a speed limit: scaled to the limit, and told in the state; a command in percent is not")
  func limited() throws {
    var line = Timeline(
      try RobotSettings(speedLimit: Percent(50), acceleration: 0, geometry: geometry))
    // One wheel stands, the other would need 200 %.
    #expect(line.at(0, .command(.twist(twist(0.5, 5)), from: sourceA)).drives == speeds(0, 50))
    #expect(line.state.share == 0.25)
    line.drive(50, 100, 100)
    #expect(line.state.share == nil)
    line.at(100, .command(.twist(twist(0.1, 0)), from: sourceA))
    #expect(line.state.share == nil && line.state.target == speeds(20, 20))
  }

  @Test("twist at a speed limit of 0: nothing drives, and nobody else's drive is stopped by it")
  func limitedToNothing() throws {
    var line = Timeline(try RobotSettings(speedLimit: Percent(0), acceleration: 0, geometry: geometry))
    line.drive(0, 50, 50)
    #expect(line.at(10, .command(.twist(twist(5, 0)), from: sourceB)).verdict == .ignored(.notController))
    #expect(line.state.isDriving)
  }

  @Test("twist without a geometry: refused, nothing drives, and it counts as a stick that is held")
  func unknownGeometry() {
    var line = Timeline()
    #expect(line.at(0, .command(.twist(twist(0.1, 0)), from: sourceA)).verdict == .ignored(.noGeometry))
    #expect(!line.state.isDriving)
    line.at(10, .command(.emergencyStop, from: sourceB))
    line.at(10, .stopConfirmed)
    line.at(900, .command(.twist(twist(0.1, 0)), from: sourceA))
    #expect(line.at(1_500, .command(.reset, from: sourceB)).verdict == .ignored(.stickNotAtZero))
    #expect(line.at(1_900, .command(.reset, from: sourceB)).verdict == .accepted)
  }

  @Test("twist of zero without a geometry: a stop, from anyone")
  func zeroWithoutGeometry() {
    var line = Timeline()
    line.drive(0, 50, 50)
    #expect(line.at(10, .command(.twist(twist(0, 0)), from: sourceB)) == RobotAction(.stop))
    #expect(!line.state.isDriving)
  }

  @Test("twist: silence for the failsafe timeout stops, to the nanosecond")
  func failsafe() {
    var line = Timeline(.measured)
    line.at(0, .command(.twist(twist(0.2, 0.1)), from: sourceA))
    #expect(line.at(.milliseconds(1_000) - Nanoseconds(1), .tick).output != .stop)
    #expect(line.at(1_000, .tick).output == .stop)
  }

  @Test("twist: not finite or beyond 100 m/s or rad/s does nothing")
  func refused() {
    for bad in [twist(.nan, 0), twist(0, .infinity), twist(100.001, 0), twist(0, -1e300)] {
      var line = Timeline(.measured)
      #expect(line.at(0, .command(.twist(bad), from: sourceA)).verdict == .ignored(.notFinite))
    }
  }

  @Test("geometry: a number out of range is an error that says so")
  func ranges() {
    func error(_ base: Double, _ speed: Double) -> String? {
      do throws(RobotSettingsError) {
        _ = try RobotGeometry(wheelBaseMetres: base, topSpeedMetresPerSecond: speed)
        return nil
      } catch {
        return "\(error)"
      }
    }
    #expect(error(0.01, 20) == nil && error(5, 0.01) == nil)
    #expect(error(0.009, 1) == "wheel base: expected 0.01…5 m, got 0.009")
    #expect(error(.nan, 1) == "wheel base: expected 0.01…5 m, got nan")
    #expect(error(1, 20.1) == "top speed: expected 0.01…20 m/s, got 20.1")
  }
}
