import LegDaemon
import TactusSwarm

extension SwarmMember {
  /// The system `leg` as a member of the swarm.
  public static var leg: SwarmMember { SwarmMember(LegDaemon.legs) { LegSwarm(seed: $0) } }
}
