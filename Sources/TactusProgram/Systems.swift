import LegDaemon
import PlantsDaemon
import PumpDaemon
import RobotDaemon
import SprinklerDaemon
import TactusDaemon
import VideoDaemon

extension DaemonProgram {
  /// `tactus`, and the one list of its systems. A system that another needs stands before it, one that keeps something where its
  /// tables came; the robot, whose scenarios have no part of their own, first, and beside it the video, by which it is driven.
  static let tactus = DaemonProgram(
    name: "tactus", version: packageVersion,
    summary: "Runs control loops on real-time threads and keeps actuators safe.",
    own: [RobotKind(), VideoKind(), LegKind(), SprinklerKind(), PlantsKind(), PumpKind()])
}
