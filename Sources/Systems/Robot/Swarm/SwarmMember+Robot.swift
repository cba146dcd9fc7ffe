import RobotDaemon
import TactusSwarm

extension SwarmMember {
  /// The system `robot` with its part.
  public static var robot: SwarmMember { SwarmMember(RobotKind()) { RobotSwarm(seed: $0) } }
}
