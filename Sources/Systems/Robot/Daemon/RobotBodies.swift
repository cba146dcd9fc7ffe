import Devices
import Robot
import TactusDaemon
import Wire

extension Robot {
  /// The body of `drive`: the wheels' speeds in percent, or the motion of the robot in SI units.
  struct DriveBody: Settings {
    var left: Double?
    var right: Double?
    var linear: Double?
    var angular: Double?
    var timestamp: Double?

    private static let any = -Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude

    static var keys: [Key<DriveBody>] {
      Key("left", \.left, in: -100...100, unit: .percent, "The left wheel, positive forwards.")
      Key("right", \.right, in: -100...100, unit: .percent, "The right wheel, positive forwards.")
      Key(
        "linear", \.linear, in: -Twist.most...Twist.most, unit: Unit("m/s"),
        "The robot, positive forwards; needs motors.wheel_base_m and motors.top_speed_m_per_s.")
      Key(
        "angular", \.angular, in: -Twist.most...Twist.most, unit: Unit("rad/s"),
        "Its turn, positive to the left; needs the same.")
      Key("timestamp", \.timestamp, in: any, "The client's own clock, seconds or milliseconds as in a datagram.")
    }

    func check(_ report: (PartialKeyPath<DriveBody>, String) -> Void) {
      let (isInPercent, isInSI) = (left != nil || right != nil, linear != nil || angular != nil)
      if isInPercent, isInSI { return report(\.linear, "expected left and right, or linear and angular, got both") }
      if !isInPercent, !isInSI { return report(\.left, "expected left and right, or linear and angular, got nothing") }
      let other: (PartialKeyPath<DriveBody>, String)? =
        switch (left, right, linear, angular) {
        case (nil, _?, _, _): (\.left, "left and right")
        case (_?, nil, _, _): (\.right, "left and right")
        case (_, _, nil, _?): (\.linear, "linear and angular")
        case (_, _, _?, nil): (\.angular, "linear and angular")
        default: nil
        }
      if let (property, both) = other { report(property, "expected \(both), got one of them") }
    }

    var order: RobotOrder {
      let stamp = timestamp.map { SenderTimestamp(wireValue: $0) }
      if let linear, let angular {
        return .command(.twist(Twist(metresPerSecond: linear, radiansPerSecond: angular)), timestamp: stamp)
      }
      return .command(
        .drive(WheelSpeeds(left: Percent(left ?? 0), right: Percent(right ?? 0))), timestamp: stamp)
    }
  }

  /// The body of `look`: one angle or both.
  struct LookBody: Settings {
    var pan: Int?
    var tilt: Int?

    static var keys: [Key<LookBody>] {
      Key(
        "pan", \.pan, in: CameraMountSettings.angles, unit: .degrees,
        "The servo that turns the camera left and right; 90 is its middle. Without it that servo stays.")
      Key(
        "tilt", \.tilt, in: CameraMountSettings.angles, unit: .degrees,
        "The servo that turns the camera up and down. Without it that servo stays.")
    }

    func check(_ report: (PartialKeyPath<LookBody>, String) -> Void) {
      if pan == nil, tilt == nil { report(\.pan, "expected pan or tilt or both, got nothing") }
    }

    var order: RobotOrder { .fitting(.look(pan: pan, tilt: tilt)) }
  }

  /// The body of `lights`: a colour, for all lights or for one.
  struct LightsBody: Settings {
    var red: UInt8 = 0
    var green: UInt8 = 0
    var blue: UInt8 = 0
    var light: Int?

    static var keys: [Key<LightsBody>] {
      Key("red", \.red, in: 0...255, "The red part of the colour; all three zero is off.")
      Key("green", \.green, in: 0...255, "The green part.")
      Key("blue", \.blue, in: 0...255, "The blue part.")
      Key("light", \.light, in: 0...13, "One light, numbered from 0; without it all of them.")
    }

    var order: RobotOrder { .fitting(.light(LightColour(red: red, green: green, blue: blue), light: light)) }
  }
}
