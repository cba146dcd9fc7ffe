import TactusSwarm
import VideoDaemon

extension SwarmMember {
  /// The system `video` as a member of the swarm.
  public static var video: SwarmMember { SwarmMember(Video.self) { VideoSwarm(seed: $0) } }
}
