import Tactus
import TestSupport
import Testing
import Wire

@testable import Robot

extension RobotSettings {
  /// Nothing may be nearer ahead than 200 mm. Without a ramp.
  static let watching = try! RobotSettings(acceleration: 0, stopWithinMillimetres: 200)
}

@Suite(.ownThread) struct ClearanceTests {
  @Test("something nearer ahead than allowed: forward motion ends in that tick, backward and turning go on")
  func obstacle() {
    var line = Timeline(.watching)
    line.at(0, .clearance(.distance(millimetres: 200)))
    #expect(line.drive(0, 60, 60).drives == speeds(60, 60) && line.state.forwardStop == nil)
    line.at(50, .clearance(.distance(millimetres: 199)))
    #expect(line.at(50, .tick).drives == .zero)
    #expect(line.state.forwardStop == .obstacle(millimetres: 199))
    #expect(line.state.description.hasSuffix("; no forward motion: an obstacle at 199 mm"))
    #expect(line.state.wayOut?.contains("turn or drive backward") == true)
    #expect(line.drive(60, 60, 20).drives == speeds(20, -20), "of a curve the turn is left")
    #expect(line.drive(70, -30, 30).drives == .zero, "signs change by way of zero")
    #expect(line.at(80, .tick).drives == speeds(-30, 30) && line.state.forwardStop == nil)
    #expect(line.drive(90, -40, -50).drives == speeds(-40, 0))
    #expect(line.at(140, .tick).drives == speeds(-40, -50))
    #expect(line.drive(150, 20, 20).drives == .zero)
  }

  @Test("the obstacle goes away: forward motion stays ended until the stick was brought back")
  func latch() {
    var line = Timeline(.watching)
    line.at(0, .clearance(.distance(millimetres: 100)))
    #expect(line.drive(0, 60, 60).drives == .zero)
    line.at(50, .clearance(.distance(millimetres: 1_000)))
    #expect(line.at(50, .tick).drives == .zero && line.drive(60, 50, 50).drives == .zero)
    #expect(line.state.forwardStop == .obstacle(millimetres: 100))
    line.drive(100, 0, 0)
    #expect(line.drive(110, 50, 50).drives == speeds(50, 50) && line.state.forwardStop == nil)
  }

  @Test("the distance is not known, from the start or since: no forward motion, and it is said as such")
  func unknown() {
    var line = Timeline(.watching)
    #expect(line.drive(0, 60, 60).drives == .zero)
    #expect(line.state.forwardStop == .distanceUnknown)
    #expect(line.state.description.hasSuffix("; no forward motion: the distance ahead is not known"))
    #expect(line.drive(10, -60, -60).drives == speeds(-60, -60))
    line.at(50, .clearance(.distance(millimetres: 500)))
    line.at(50, .tick)
    line.at(100, .clearance(.unknown))
    line.drive(100, 0, 0)
    #expect(line.drive(110, 60, 60).drives == .zero)
  }

  @Test("no distance is watched: what is ahead changes nothing")
  func unwatched() {
    var line = Timeline(.unramped)
    line.at(0, .clearance(.distance(millimetres: 1)))
    #expect(line.drive(0, 60, 60).drives == speeds(60, 60) && line.state.forwardStop == nil)
  }

  @Test(
    "20,000 random histories with a ramp: while forward motion is ended, the sum of both wheels is never above zero")
  func neverForward() throws {
    for seed in UInt64(0)..<20_000 {
      var generator = SplitMix64(seed: seed)
      var line = Timeline(
        try RobotSettings(
          speedLimit: Percent(.random(in: 10...100, using: &generator)),
          acceleration: .random(in: 0...100, using: &generator), stopWithinMillimetres: 200))
      line.at(0, .clearance(.distance(millimetres: 1_000)))
      for step in Int64(0)..<20 {
        let isNear = Bool.random(using: &generator)
        line.at(step * 50, .clearance(isNear ? .distance(millimetres: 150) : .distance(millimetres: 400)))
        let output =
          Bool.random(using: &generator)
          ? line.at(step * 50, .tick).drives
          : line.drive(
            step * 50, .random(in: -100...100, using: &generator), .random(in: -100...100, using: &generator)
          ).drives
        guard isNear, let output, output.left.value + output.right.value > 1e-9 else { continue }
        // A command backward may leave one wheel behind the other while both speed up.
        let target = try #require(line.state.target)
        guard target.left.value + target.right.value > 0 else { continue }
        Issue.record("seed \(seed), step \(step): \(output)")
        return
      }
    }
  }
}
