import Wire

/// A command to a leg: one frame of the LegCtrl protocol v0.1.
///
/// On the wire: version 0x01, type, payload length, 0x00, payload; little-endian; one frame for each datagram, write or message.
public enum LegCommand: Sendable, Hashable, BitwiseCopyable {
  /// Arms the leg; type 0x01.
  case arm
  /// Disarms the leg; type 0x02.
  case disarm
  /// Drives the servo to this pulse; type 0x03. The pulse is as sent, even outside 500…2500 µs.
  case setServo(PulseWidth)
  /// Prolongs the deadman without changing the pulse; type 0x04.
  case ping
}

extension LegCommand {
  /// Decodes the command in a frame.
  ///
  /// Every byte string yields a command or an error, which tells what was expected and what was received. Reserved bytes are ignored. No
  /// reference to `bytes` is kept. Timing: constant; no allocation, no lock. Source: facts/leg.md, "LegCtrl".
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

  /// The largest number of bytes that `encode` writes.
  public static var maximumEncodedLength: Int {
    @_noLocks @_noAllocation get { 6 }
  }

  /// Writes the frame and returns its length. `buffer` holds at least `maximumEncodedLength` bytes. Nothing is allocated.
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
