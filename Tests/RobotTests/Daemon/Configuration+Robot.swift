@testable import RobotDaemon
@testable import TactusDaemon

extension Configuration {
  /// What the file says of the robot, or `nil` if it does not run.
  var motors: (wiring: Robot.Wiring, rules: Robot.Rules)? { settings(of: Robot.self) }
}
