import Buses
import Tactus
import Testing

@testable import Devices

@Suite struct DifferentialDriveTests {
  typealias Speeds = DifferentialDrive.Speeds

  /// The same seeded commands every 20…200 ms for 60 s, looked at in between every `look` ns; nil for never.
  static func drive(seed: UInt64, look: Int64?) -> DifferentialDrive {
    var random = SplitMix64(seed: seed)
    var world = DifferentialDrive()
    var now = TickInstant.zero
    while now.nanoseconds < 60_000_000_000 {
      let target = Speeds(
        left: Double(random.below(1200)) / 1000 - 0.6, right: Double(random.below(1200)) / 1000 - 0.6)
      world.command(target, at: now)
      let end = now + Nanoseconds(Int64(20_000_000 + random.below(180_000_000)))
      if let look {
        while now + Nanoseconds(look) < end {
          now = now + Nanoseconds(look)
          world.advance(to: now)
        }
      }
      now = end
    }
    world.advance(to: now)
    return world
  }

  @Test(
    "the same commands: how often the world is looked at changes the pose by less than 1e-6",
    arguments: 1...10 as ClosedRange<UInt64>)
  func samplingDoesNotMatter(seed: UInt64) {
    let unseen = Self.drive(seed: seed, look: nil)
    for look in [50_000_000, 7_000_000, 1_000_000, 333_333] as [Int64] {
      let seen = Self.drive(seed: seed, look: look)
      #expect(abs(seen.pose.x - unseen.pose.x) < 1e-6, "seed \(seed), every \(look) ns")
      #expect(abs(seen.pose.y - unseen.pose.y) < 1e-6, "seed \(seed), every \(look) ns")
      #expect(abs(seen.pose.heading - unseen.pose.heading) < 1e-9, "seed \(seed), every \(look) ns")
    }
  }

  @Test("turning at full speed on one wheel: a full circle ends where it began")
  func circle() {
    var world = DifferentialDrive()
    world.place(.init(), speeds: Speeds(left: 0.3, right: 0.6))
    world.command(Speeds(left: 0.3, right: 0.6), at: .zero)
    let period = 2 * Double.pi / (0.3 / 0.12)
    world.advance(to: TickInstant(nanoseconds: Int64((period * 1e9).rounded())))
    #expect(abs(world.pose.x) < 1e-8 && abs(world.pose.y) < 1e-8)
    #expect(abs(world.pose.heading - 2 * .pi) < 1e-8)
    // Half the way it is one diameter to the left.
    world.advance(to: TickInstant(nanoseconds: Int64((1.5 * period * 1e9).rounded())))
    #expect(abs(world.pose.y - 2 * 0.45 / 2.5) < 1e-8)
  }

  @Test("from rest, after one time constant: 63 % of the commanded speed")
  func lag() {
    var world = DifferentialDrive()
    world.command(Speeds(left: 0.6, right: 0.3), at: .zero)
    world.advance(to: milliseconds(150))
    #expect(abs(world.speeds.left - 0.6 * 0.6321205588285577) < 1e-12)
    #expect(abs(world.speeds.right - 0.3 * 0.6321205588285577) < 1e-12)
  }

  @Test("commanded to stop: both wheels come to exact rest and the robot then stays")
  func rest() {
    var world = DifferentialDrive()
    world.place(.init(x: 1, y: 2, heading: 0.5), speeds: Speeds(left: 0.6, right: -0.2))
    world.advance(to: milliseconds(5000))
    #expect(world.speeds == Speeds())
    let pose = world.pose
    world.advance(to: milliseconds(3_600_000))
    #expect(world.pose == pose)
  }

  @Test("an instant in the past: nothing moves")
  func past() {
    var world = DifferentialDrive(at: milliseconds(100))
    world.place(.init(), speeds: Speeds(left: 0.5, right: 0.5))
    world.advance(to: milliseconds(50))
    #expect(world.pose == DifferentialDrive.Pose() && world.at == milliseconds(100))
  }

  @Test("heading 90 degrees: forward is along y")
  func heading() {
    var world = DifferentialDrive()
    world.place(.init(heading: .pi / 2), speeds: Speeds(left: 0.5, right: 0.5))
    world.command(Speeds(left: 0.5, right: 0.5), at: .zero)
    world.advance(to: milliseconds(2000))
    #expect(abs(world.pose.x) < 1e-12 && abs(world.pose.y - 1) < 1e-12)
  }

  @Test("a fast robot on a narrow track: turns many times a second and still closes its circle")
  func fastTurn() {
    var parameters = DifferentialDrive.Parameters()
    parameters.track = 0.05
    parameters.topSpeed = 3
    var world = DifferentialDrive(parameters)
    world.place(.init(), speeds: Speeds(left: 1, right: 3))
    world.command(Speeds(left: 1, right: 3), at: .zero)
    world.advance(to: TickInstant(nanoseconds: Int64((2 * Double.pi / 40 * 1e9).rounded())))
    #expect(abs(world.pose.x) < 1e-7 && abs(world.pose.y) < 1e-7)
  }
}
