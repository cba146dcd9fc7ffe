import SprinklerDaemon
import TactusSwarm

extension SwarmMember {
  /// The system `sprinkler` with its part.
  public static var sprinkler: SwarmMember { SwarmMember(SprinklerKind()) { try SprinklerSwarm(seed: $0) } }
}
