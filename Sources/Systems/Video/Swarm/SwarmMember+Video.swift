import TactusSwarm
import VideoDaemon

extension SwarmMember {
  /// The system `video` with its part.
  public static var video: SwarmMember { SwarmMember(VideoKind()) { VideoSwarm(seed: $0) } }
}
