/// Finds the messages in what comes in on a serial line.
///
/// Total: every sequence of bytes is messages, refusals and what is still incomplete. Whatever was lost or changed, the frame
/// after the next zero byte is found again. Holds 23 bytes. Timing: linear; no allocation, no lock.
///
///     for byte in received {
///       switch decoder.take(byte, into: message) { … }
///     }
public struct LegSerialDecoder: Sendable, BitwiseCopyable {
  public enum Outcome: Sendable, Hashable, BitwiseCopyable {
    /// More bytes are needed.
    case incomplete
    /// A message of so many bytes, 1…20.
    case message(count: Int)
    /// So many bytes between two zeros were no frame.
    case refused(LegSerialError, count: Int)
  }

  private var bytes: [23 of UInt8]
  /// Bytes since the last zero, those not kept too.
  private var count: Int

  @_noLocks @_noAllocation
  public init() {
    bytes = .init(repeating: 0)
    count = 0
  }

  /// Takes one received byte. A message is put into `message`, which holds at least 20 bytes.
  @_noLocks @_noAllocation
  public mutating func take(_ byte: UInt8, into message: UnsafeMutableRawBufferPointer) -> Outcome {
    precondition(message.count >= LegSerialFrame.maximumMessageLength, "the buffer is too small for a message")
    guard byte == 0 else {
      if count < LegSerialFrame.maximumStuffedLength { bytes[count] = byte }
      // A line may be noisy for years.
      if count < Int(Int32.max) { count &+= 1 }
      return .incomplete
    }
    let ended = count
    count = 0
    // Two zeros in a row: one ended a frame, the other begins the next.
    return ended == 0 ? .incomplete : decode(ended, into: message)
  }

  @_noLocks @_noAllocation
  private func decode(_ ended: Int, into message: UnsafeMutableRawBufferPointer) -> Outcome {
    guard ended <= LegSerialFrame.maximumStuffedLength else { return .refused(.tooLong, count: ended) }
    var decoded: [22 of UInt8] = .init(repeating: 0)
    var length = 0
    var index = 0
    while index < ended {
      let next = index &+ Int(bytes[index])
      guard next <= ended else { return .refused(.badStuffing, count: ended) }
      for place in (index &+ 1)..<next {
        decoded[length] = bytes[place]
        length &+= 1
      }
      index = next
      if index < ended {
        decoded[length] = 0
        length &+= 1
      }
    }
    let payload = length &- 2
    guard payload >= 1 else { return .refused(.tooShort, count: ended) }
    var crc = CRC16()
    for place in 0..<payload { crc.add(decoded[place]) }
    let got = UInt16(decoded[payload]) | UInt16(decoded[payload &+ 1]) << 8
    guard got == crc.value else { return .refused(.wrongChecksum(expected: crc.value, got: got), count: ended) }
    for place in 0..<payload { message[place] = decoded[place] }
    return .message(count: payload)
  }
}

/// Why the bytes between two zeros are no frame.
public enum LegSerialError: Error, Sendable, Hashable, BitwiseCopyable {
  /// More than 23 of them.
  case tooLong
  /// A code of the stuffing points beyond the end.
  case badStuffing
  /// No message, or not even a CRC.
  case tooShort
  /// The bits have changed on the way, or the beginning was lost.
  case wrongChecksum(expected: UInt16, got: UInt16)
}
