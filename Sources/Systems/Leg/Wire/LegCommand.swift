import Wire

/// What an operator asks of a leg: one frame of the LegCtrl protocol v0.1.
///
/// On the wire: version 0x01, type, payload length, 0x00, payload; little-endian; one datagram, write or message each.
public enum LegCommand: Sendable, Hashable, BitwiseCopyable {
  /// 0x01
  case arm
  /// 0x02
  case disarm
  /// 0x03: drive the servo to this pulse, as the sender wrote it, within 500…2500 µs or not.
  case setServo(PulseWidth)
  /// 0x04
  case ping
}

extension LegCommand {
  /// The command in a frame.
  ///
  /// Total: every byte string is a command or an error, which says what was expected and what came. Reserved bytes are not
  /// looked at. Keeps no reference to `bytes`. Timing: constant; no allocation, no lock. Source: facts/leg.md, "LegCtrl".
  @_noLocks @_noAllocation
  public static func decode(_ bytes: UnsafeRawBufferPointer) throws(LegFrameError) -> LegCommand {
    let type = try LegFrame.type(of: bytes)
    switch type {
    case LegFrame.arm:
      try LegFrame.check(bytes, payload: 0)
      return .arm
    case LegFrame.disarm:
      try LegFrame.check(bytes, payload: 0)
      return .disarm
    case LegFrame.setServo:
      try LegFrame.check(bytes, payload: 2)
      return .setServo(PulseWidth(microseconds: LegFrame.word(bytes, at: 4)))
    case LegFrame.ping:
      try LegFrame.check(bytes, payload: 0)
      return .ping
    default: throw .notACommand(type: type)
    }
  }

  /// Bytes that `encode` may need.
  public static var maximumEncodedLength: Int {
    @_noLocks @_noAllocation get { 6 }
  }

  /// Writes the frame and returns its length. `buffer` holds at least `maximumEncodedLength` bytes. No allocation.
  @_noLocks @_noAllocation
  public func encode(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    precondition(buffer.count >= Self.maximumEncodedLength, "the buffer is too small for a command")
    switch self {
    case .arm: return LegFrame.begin(LegFrame.arm, payload: 0, in: buffer)
    case .disarm: return LegFrame.begin(LegFrame.disarm, payload: 0, in: buffer)
    case .setServo(let pulse):
      LegFrame.put(pulse.microseconds, in: buffer, at: 4)
      return LegFrame.begin(LegFrame.setServo, payload: 2, in: buffer)
    case .ping: return LegFrame.begin(LegFrame.ping, payload: 0, in: buffer)
    }
  }
}
