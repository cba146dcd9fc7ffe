import RobotDaemon
import TactusSwarm

extension SwarmMember {
  /// The system `robot` as a member of the swarm.
  public static var robot: SwarmMember { SwarmMember(Robot.self) { RobotSwarm(seed: $0) } }
}
