import Wire

/// The request in a robot datagram.
public enum RobotDatagram: Sendable, Equatable, BitwiseCopyable {
  /// Drive the wheels at these speeds, −100…100 % each; higher speeds in the datagram have been clamped. Decoding leaves (0, 0) a drive;
  /// `RobotMachine` treats it as a stop, which any source may send.
  case drive(WheelSpeeds)
  /// Move the robot as a whole, in SI units. The wheels' speeds follow from the robot's wheel base and top speed, which the receiver knows.
  case twist(Twist)
  case stop
  case emergencyStop
  /// Leave the emergency stop or a fault.
  case reset
  /// Request a reply and change nothing.
  case query
}
