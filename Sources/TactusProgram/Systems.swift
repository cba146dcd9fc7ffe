import LegDaemon
import PlantsDaemon
import PumpDaemon
import RobotDaemon
import SprinklerDaemon
import TactusDaemon
import VideoDaemon

extension DaemonProgram {
  /// The program `tactus` and the list of its systems. The order matters: a system precedes the systems that depend on
  /// it, systems with stored data keep the order in which their tables were introduced, and the robot comes first,
  /// directly before the video system through which it is driven, because its scenarios name no part.
  static let tactus = DaemonProgram(
    name: "tactus", version: packageVersion,
    summary: "Runs control loops on real-time threads and keeps actuators safe.",
    systems: [Robot.self, Video.self, LegDaemon.legs, Sprinkler.self, Plants.self, Pump.self])
}
