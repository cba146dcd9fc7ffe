import Devices
import Robot
import TactusDaemon

extension Robot {
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
