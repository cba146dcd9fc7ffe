import SprinklerDaemon
import TactusSwarm

extension SwarmMember {
  /// The sprinkler as a member of the swarm.
  public static var sprinkler: SwarmMember { SwarmMember(Sprinkler.self) { try SprinklerSwarm(seed: $0) } }
}
