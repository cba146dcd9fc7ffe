import Robot
import Tactus
import TactusDaemon
import Wire

extension RobotSettings: ReloadableRules {
  /// The limit of speed comes from two keys and the safe mode.
  package var keys: [(key: String, value: ConfigValue?)] {
    [
      ("motors.speed_limit in effect", .number(speedLimit.value)), ("motors.acceleration", .number(acceleration)),
      ("motors.command_timeout", .number(failsafeTimeout.inSeconds)),
    ]
  }
}
