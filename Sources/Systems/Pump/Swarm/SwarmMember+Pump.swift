import PumpDaemon
import TactusSwarm

extension SwarmMember {
  /// The system `pump` with its part in the swarm.
  public static var pump: SwarmMember { SwarmMember(Pump.self) { PumpSwarm(seed: $0) } }
}
