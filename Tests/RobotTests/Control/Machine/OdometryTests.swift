import Tactus
import TestSupport
import Testing
import Wire

@testable import Robot

@Suite(.ownThread) struct OdometryTests {
  private let geometry = RobotSettings.measured.geometry!

  private func isNear(_ one: Double, _ other: Double) -> Bool { (one - other).magnitude < 1e-9 }

  @Test("odometry: straight ahead is the speed times the time, backwards too, and standing is nothing")
  func straight() {
    var place = RobotOdometry()
    place.advance(by: Nanoseconds(2_000_000_000), at: speeds(50, 50), geometry)
    #expect(isNear(place.x, geometry.topSpeedMetresPerSecond) && place.y == 0 && place.heading == 0)
    place.advance(by: Nanoseconds(1_000_000_000), at: speeds(-50, -50), geometry)
    place.advance(by: Nanoseconds(9_000_000_000), at: speeds(0, 0), geometry)
    #expect(isNear(place.x, geometry.topSpeedMetresPerSecond / 2))
  }

  @Test("odometry: a curve is the same in one step as in a thousand, and a full circle comes back")
  func curve() {
    let (wheels, _) = geometry.wheels(Twist(metresPerSecond: 0.2, radiansPerSecond: 0.5), limit: Percent(100))
    var (whole, pieces) = (RobotOdometry(), RobotOdometry())
    whole.advance(by: Nanoseconds(3_000_000_000), at: wheels, geometry)
    for _ in 0..<1000 { pieces.advance(by: Nanoseconds(3_000_000), at: wheels, geometry) }
    // Of a circle with the radius v ÷ ω = 0.4 m.
    #expect(isNear(whole.x, 0.4 * 0.9974949866040544) && isNear(whole.y, 0.4 * (1 - 0.0707372016677029)))
    #expect(isNear(whole.x, pieces.x) && isNear(whole.y, pieces.y) && isNear(whole.heading, pieces.heading))
    var circle = RobotOdometry()
    for _ in 0..<4 { circle.advance(by: Nanoseconds(3_141_592_654), at: wheels, geometry) }
    #expect(circle.x.magnitude < 1e-8 && circle.y.magnitude < 1e-8 && circle.heading.magnitude < 1e-8)
  }

  @Test("odometry: the direction stays within half a turn, however long the robot spins")
  func spinning() {
    var place = RobotOdometry()
    for _ in 0..<10_000 {
      place.advance(by: Nanoseconds(200_000_000), at: speeds(-100, 100), geometry)
      #expect(place.heading.magnitude <= Double.pi + 1e-9)
    }
    #expect(place.x.magnitude < 1e-9 && place.y.magnitude < 1e-9)
  }
}
