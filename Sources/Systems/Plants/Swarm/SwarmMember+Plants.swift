import PlantsDaemon
import TactusSwarm

extension SwarmMember {
  /// The system `plants` with its part in the swarm.
  public static var plants: SwarmMember { SwarmMember(Plants.self) { PlantSwarm(seed: $0) } }
}
