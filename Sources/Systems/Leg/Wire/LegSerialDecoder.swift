@_spi(FromOutside) import Conversions

/// Extracts messages from the bytes received on a serial line.
///
/// Every sequence of bytes yields messages, refusals or an incomplete frame. Whatever was lost or changed, the decoder resumes with the
/// frame after the next zero byte. It holds 23 bytes. Timing: linear; no allocation, no lock.
///
///     for byte in received {
///       switch decoder.receive(byte, into: message) { … }
///     }
public struct LegSerialDecoder: Sendable, BitwiseCopyable {
  public enum Outcome: Sendable, Hashable, BitwiseCopyable {
    /// The frame is incomplete: more bytes are needed.
    case incomplete
    /// A message with this number of bytes, 1…20, is complete.
    case message(count: Int)
    /// The bytes between two zeros, this many, did not form a valid frame.
    case refused(LegSerialError, count: Int)
  }

  private var bytes: [23 of UInt8]
  /// The number of bytes since the last zero, including those that were not stored.
  private var count: Int

  @_noLocks @_noAllocation
  public init() {
    bytes = .init(repeating: 0)
    count = 0
  }

  /// Handles one received byte. A complete message is written to `message`, which holds at least 20 bytes.
  @_noLocks @_noAllocation
  public mutating func receive(_ byte: UInt8, into message: UnsafeMutableRawBufferPointer) -> Outcome {
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

/// The reason why the bytes between two zeros did not form a valid frame.
public enum LegSerialError: Error, Sendable, Hashable, BitwiseCopyable {
  /// There are more than 23 bytes.
  case tooLong
  /// A code of the byte stuffing points beyond the end.
  case badStuffing
  /// The frame is too short to contain a message and a CRC.
  case tooShort
  /// The CRC does not match: bits have changed on the way, or the beginning was lost.
  case wrongChecksum(expected: UInt16, got: UInt16)
}

extension LegSerialError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .tooLong: "too-long: expected at most 23 bytes between two zeros"
    case .badStuffing: "bad-stuffing: a code points beyond the end"
    case .tooShort: "too-short: expected a message of 1…20 bytes and 2 of CRC"
    case .wrongChecksum(let expected, let got): "wrong-checksum: expected \(expected), got \(got)"
    }
  }
}
