@_spi(FromOutside) import Conversions

/// A LegCtrl frame on a serial line: `00 COBS(message ‖ CRC) 00`, the CRC in little-endian order.
///
/// The framing is needed because a serial line has neither message boundaries nor a checksum. README.md explains the choice.
public enum LegSerialFrame {
  /// The length of the longest message in bytes, as in a GATT write.
  public static var maximumMessageLength: Int {
    @_noLocks @_noAllocation get { 20 }
  }
  /// The length of the longest frame in bytes: two delimiters, one byte of stuffing, the message and its CRC.
  public static var maximumEncodedLength: Int {
    @_noLocks @_noAllocation get { 25 }
  }
  /// The largest number of bytes between two delimiters.
  static var maximumStuffedLength: Int {
    @_noLocks @_noAllocation get { 23 }
  }

  /// Writes the frame of a message of 1…20 bytes and returns its length, which is that of the message plus 5. `buffer` holds at least
  /// `maximumEncodedLength` bytes and does not overlap the message. Timing: linear; no allocation, no lock.
  @_noLocks @_noAllocation
  public static func encode(_ message: UnsafeRawBufferPointer, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    precondition(message.count >= 1 && message.count <= maximumMessageLength, "a message is of 1…20 bytes")
    precondition(buffer.count >= maximumEncodedLength, "the buffer is too small for a frame")
    var crc = CRC16()
    var writer = StuffingWriter(buffer)
    for index in 0..<message.count {
      crc.add(message[index])
      writer.put(message[index])
    }
    writer.put(UInt8(truncatingIfNeeded: crc.value))
    writer.put(UInt8(truncatingIfNeeded: crc.value >> 8))
    return writer.finish()
  }
}

/// A writer of consistent overhead byte stuffing for fewer than 254 bytes: each zero is replaced by the distance to the next one.
private struct StuffingWriter: BitwiseCopyable {
  private let buffer: UnsafeMutableRawBufferPointer
  /// The position at which the distance to the next zero, or to the end, will be written.
  private var code = 1
  private var end = 2

  @_noLocks @_noAllocation
  init(_ buffer: UnsafeMutableRawBufferPointer) {
    self.buffer = buffer
    buffer[0] = 0
  }

  @_noLocks @_noAllocation
  mutating func put(_ byte: UInt8) {
    if byte == 0 {
      buffer[code] = UInt8(truncatingIfNeeded: end &- code)
      code = end
    } else {
      buffer[end] = byte
    }
    end &+= 1
  }

  /// Ends the frame and returns its length.
  @_noLocks @_noAllocation
  func finish() -> Int {
    buffer[code] = UInt8(truncatingIfNeeded: end &- code)
    buffer[end] = 0
    return end &+ 1
  }
}

/// The checksum CRC-16/CCITT-FALSE: polynomial 0x1021, initial value 0xFFFF, no bit reflection. The checksum of `123456789` is 0x29B1.
struct CRC16: BitwiseCopyable {
  private(set) var value: UInt16

  @_noLocks @_noAllocation
  init() { value = 0xFFFF }

  @_noLocks @_noAllocation
  mutating func add(_ byte: UInt8) {
    value ^= UInt16(byte) << 8
    for _ in 0..<8 { value = value & 0x8000 == 0 ? value << 1 : value << 1 ^ 0x1021 }
  }
}
