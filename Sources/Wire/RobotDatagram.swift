import CTactus
import Tactus

/// What a robot datagram says once it has been understood.
public enum RobotDatagram: Sendable, Equatable, BitwiseCopyable {
  /// Drive both wheels at these speeds, −100…100 % each (clamped when the sender asked for more).
  case drive(WheelSpeeds)
  case stop
  case emergencyStop
  /// Leave the e-stop or a fault.
  case reset
  /// Nothing but a reply is asked for.
  case query
}
