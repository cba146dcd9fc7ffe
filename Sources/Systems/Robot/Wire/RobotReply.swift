import Tactus
import Wire

/// What the robot sends back for a datagram with an `echo`.
///
/// On the wire, in this order and without spaces:
/// `{"echo":7,"state":"driving","left":12.5,"right":-3,"age_ms":12,"reason":null}`
public struct RobotReply: Sendable, Equatable, BitwiseCopyable {
  public enum State: Sendable, Hashable, BitwiseCopyable {
    case stopped, driving, emergencyStop, fault
  }
  /// The datagram's `echo`, 0…2⁵³.
  public var echo: UInt64
  public var state: State
  /// Speeds that the motors are set to. A reply carries them in steps of 0.1 %.
  public var speeds: WheelSpeeds
  /// How long ago the controlling command arrived, 0 or more; on the wire in whole milliseconds, rounded down. nil when
  /// no command controls the robot.
  public var age: Nanoseconds?
  /// Why the robot is in this state, or refused the datagram.
  public var reason: ShortText?

  @_noLocks @_noAllocation
  public init(echo: UInt64, state: State, speeds: WheelSpeeds, age: Nanoseconds? = nil, reason: ShortText? = nil) {
    self.echo = echo
    self.state = state
    self.speeds = speeds
    self.age = age
    self.reason = reason
  }

  /// Bytes that `encode` may need.
  public static var maximumEncodedLength: Int {
    @_noLocks @_noAllocation get { 160 }
  }

  /// Writes the reply and returns its length. `buffer` holds at least `maximumEncodedLength` bytes. No allocation.
  @_noLocks @_noAllocation
  public func encode(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    precondition(buffer.count >= Self.maximumEncodedLength, "the buffer is too small for a reply")
    var writer = ByteWriter(buffer)
    writer.append(#"{"echo":"#)
    writer.append(decimal: echo)
    writer.append(#","state":""#)
    switch state {
    case .stopped: writer.append("stopped")
    case .driving: writer.append("driving")
    case .emergencyStop: writer.append("estop")
    case .fault: writer.append("fault")
    }
    writer.append(#"","left":"#)
    writer.append(tenthsOf: speeds.left)
    writer.append(#","right":"#)
    writer.append(tenthsOf: speeds.right)
    writer.append(#","age_ms":"#)
    if let age {
      writer.append(decimal: UInt64(clamping: Swift.max(0, age.count)) / 1_000_000)
    } else {
      writer.append("null")
    }
    writer.append(#","reason":"#)
    if let reason {
      writer.append(0x22)
      writer.append(reason)
      writer.append(0x22)
    } else {
      writer.append("null")
    }
    writer.append(0x7D)
    return writer.count
  }
}
