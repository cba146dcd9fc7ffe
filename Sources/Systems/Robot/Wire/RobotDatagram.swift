import Wire

/// What a robot datagram asks for.
public enum RobotDatagram: Sendable, Equatable, BitwiseCopyable {
  /// Drive both wheels at these speeds, −100…100 % each (clamped when the sender asked for more). (0, 0) stays a drive
  /// here; the machine takes it as a stop from anyone.
  case drive(WheelSpeeds)
  case stop
  case emergencyStop
  /// Leave the e-stop or a fault.
  case reset
  /// Nothing but a reply is asked for.
  case query
}
