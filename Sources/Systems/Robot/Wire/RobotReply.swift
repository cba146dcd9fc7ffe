import Tactus
import Wire

/// The robot's reply to a datagram with an `echo`.
///
/// On the wire, in this order and without spaces:
/// `{"echo":7,"state":"driving","left":12.5,"right":-3,"age_ms":12,"reason":null}`
public struct RobotReply: Sendable, Equatable, BitwiseCopyable {
  public enum State: Sendable, Hashable, BitwiseCopyable {
    case stopped, driving, emergencyStop, fault
  }
  /// The `echo` of the datagram that is answered, 0…2⁵³.
  public var echo: UInt64
  public var state: State
  /// The speeds that the motors are set to. A reply carries them in steps of 0.1 %.
  public var speeds: WheelSpeeds
  /// The time since the controlling command arrived, 0 or more, or `nil` if no command controls the robot. On the wire in whole
  /// milliseconds, rounded down.
  public var age: Nanoseconds?
  /// The reason why the robot is in this state or refused the datagram, or `nil` if there is no reason to give.
  public var reason: ShortText?

  @_noLocks @_noAllocation
  public init(echo: UInt64, state: State, speeds: WheelSpeeds, age: Nanoseconds? = nil, reason: ShortText? = nil) {
    self.echo = echo
    self.state = state
    self.speeds = speeds
    self.age = age
    self.reason = reason
  }

  /// The largest number of bytes that `encode` writes.
  public static var maximumEncodedLength: Int {
    @_noLocks @_noAllocation get { 160 }
  }

  /// Writes the reply and returns its length. `buffer` holds at least `maximumEncodedLength` bytes. Nothing is allocated.
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
