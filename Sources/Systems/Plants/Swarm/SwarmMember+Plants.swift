import PlantsDaemon
import TactusSwarm

extension SwarmMember {
  /// The system `plants` with its part.
  public static var plants: SwarmMember { SwarmMember(PlantsKind()) { PlantSwarm(seed: $0) } }
}
