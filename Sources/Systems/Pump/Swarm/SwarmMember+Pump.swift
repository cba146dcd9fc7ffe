import PumpDaemon
import TactusSwarm

extension SwarmMember {
  /// The system `pump` with its part.
  public static var pump: SwarmMember { SwarmMember(PumpKind()) { PumpSwarm(seed: $0) } }
}
