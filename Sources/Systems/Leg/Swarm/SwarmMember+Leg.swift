import LegDaemon
import TactusSwarm

extension SwarmMember {
  /// The system `leg` with its part.
  public static var leg: SwarmMember { SwarmMember(LegKind()) { LegSwarm(seed: $0) } }
}
