import Wire

/// What a client inside the daemon asks of the robot, by its number.
public enum RobotRequest: Sendable, Hashable, BitwiseCopyable {
  case drive(WheelSpeeds, client: UInt32)
  case stop(client: UInt32)
  case emergencyStop(client: UInt32)
  case reset(client: UInt32)

  var event: RobotEvent {
    @_noLocks @_noAllocation get {
      switch self {
      case .drive(let speeds, let client): .command(speeds, timestamp: nil, from: .local(client))
      case .stop(let client): .stop(timestamp: nil, from: .local(client))
      case .emergencyStop(let client): .emergencyStop(from: .local(client))
      case .reset(let client): .reset(from: .local(client))
      }
    }
  }
}
