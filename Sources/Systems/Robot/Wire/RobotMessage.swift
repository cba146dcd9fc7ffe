import Wire

/// A decoded robot datagram: the command, the sender's timestamp, and whether a reply is requested.
public struct RobotMessage: Sendable, Equatable, BitwiseCopyable {
  public var command: RobotCommand
  /// The sender's timestamp, or `nil` for the CSV form and for a sender that gave none; then arrival order decides.
  public var timestamp: SenderTimestamp?
  /// A number, 0…2⁵³, that the reply must carry back, or `nil` if no reply is requested.
  public var echo: UInt64?
  /// Whether the wheel speeds of a CSV datagram contradict its direction field. The speeds are used; the caller counts the mismatch.
  public var directionMismatch: Bool

  @_noLocks @_noAllocation
  public init(
    _ command: RobotCommand, timestamp: SenderTimestamp? = nil, echo: UInt64? = nil, directionMismatch: Bool = false
  ) {
    self.command = command
    self.timestamp = timestamp
    self.echo = echo
    self.directionMismatch = directionMismatch
  }

  /// The number of bytes in the longest datagram that is decoded.
  public static var maximumLength: Int {
    @_noLocks @_noAllocation get { 1024 }
  }

  /// Decodes a datagram: JSON if its first byte that is not white space is `{`, otherwise CSV.
  ///
  /// Every byte string yields a message or a `DatagramError`. No reference to `bytes` is kept.
  /// Timing: linear in the length; no allocation, no lock. Source: README.md beside this file; facts/robot.md.
  @_noLocks @_noAllocation
  public static func decode(_ bytes: UnsafeRawBufferPointer) throws(DatagramError) -> RobotMessage {
    guard bytes.count <= maximumLength else { throw .tooLong(count: bytes.count) }
    var scanner = ByteScanner(bytes)
    scanner.skipWhiteSpace()
    guard !scanner.isAtEnd else { throw .empty }
    return scanner.byte == 0x7B ? try scanner.robotJSON() : try scanner.robotCSV()
  }
}

extension WheelSpeeds {
  /// Creates wheel speeds, each wheel clamped to ±100 % independently.
  @_noLocks @_noAllocation
  init(clampingLeft left: Double, right: Double) {
    self.init(
      left: Percent(Swift.max(-100, Swift.min(100, left))), right: Percent(Swift.max(-100, Swift.min(100, right))))
  }

  /// Creates wheel speeds from forward speed and turn in percent; a positive turn is to the right. Both wheels are scaled together into
  /// ±100 %, which keeps the curve the same.
  @_noLocks @_noAllocation
  init(speed: Double, direction: Double) {
    let left = speed + direction
    let right = speed - direction
    let largest = Swift.max(left.magnitude, right.magnitude)
    if largest > 100 {
      self.init(clampingLeft: left * 100 / largest, right: right * 100 / largest)
    } else {
      self.init(left: Percent(left), right: Percent(right))
    }
  }
}

/// A command to a robot, in a datagram or from a client inside the daemon.
public enum RobotCommand: Sendable, Hashable, BitwiseCopyable {
  /// Drives the wheels at these speeds, −100…100 % each; higher speeds in the datagram have been clamped. Decoding leaves (0, 0) a drive;
  /// `RobotMachine` treats it as a stop, which any source may send.
  case drive(WheelSpeeds)
  /// Moves the robot as a whole, in SI units. The wheels' speeds follow from the robot's wheel base and top speed, which the receiver knows.
  case twist(Twist)
  /// Stops the robot, whoever is in control.
  case stop
  /// Stops the robot and keeps it stopped until a reset.
  case emergencyStop
  /// Leaves the emergency stop or a fault.
  case reset
  /// Requests a reply and changes nothing.
  case query
}
