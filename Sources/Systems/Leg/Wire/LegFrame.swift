@_spi(FromOutside) import Conversions

/// The common parts of all LegCtrl frames: the four bytes of the header and little-endian words.
enum LegFrame {
  static var version: UInt8 {
    @_noLocks @_noAllocation @inline(__always) get { 0x01 }
  }
  static var arm: UInt8 {
    @_noLocks @_noAllocation @inline(__always) get { 0x01 }
  }
  static var disarm: UInt8 {
    @_noLocks @_noAllocation @inline(__always) get { 0x02 }
  }
  static var setServo: UInt8 {
    @_noLocks @_noAllocation @inline(__always) get { 0x03 }
  }
  static var ping: UInt8 {
    @_noLocks @_noAllocation @inline(__always) get { 0x04 }
  }
  static var telemetry: UInt8 {
    @_noLocks @_noAllocation @inline(__always) get { 0x10 }
  }
  static var headerCount: Int {
    @_noLocks @_noAllocation @inline(__always) get { 4 }
  }

  /// Returns the type of a frame. Throws unless the header is complete and of a supported version.
  @_noLocks @_noAllocation
  static func type(of bytes: UnsafeRawBufferPointer) throws(LegFrameError) -> UInt8 {
    guard bytes.count >= headerCount else { throw .noHeader(count: bytes.count) }
    guard bytes[0] == version else { throw .wrongVersion(bytes[0]) }
    return bytes[1]
  }

  /// Checks both the payload length in the header and the real length of the frame.
  @_noLocks @_noAllocation
  static func check(_ bytes: UnsafeRawBufferPointer, payload: UInt8) throws(LegFrameError) {
    guard bytes[2] == payload else { throw .wrongPayloadLength(type: bytes[1], expected: payload, got: bytes[2]) }
    let expected = headerCount &+ Int(payload)
    guard bytes.count == expected else { throw .wrongLength(type: bytes[1], expected: expected, got: bytes.count) }
  }

  @_noLocks @_noAllocation
  static func word(_ bytes: UnsafeRawBufferPointer, at index: Int) -> UInt16 {
    UInt16(bytes[index]) | UInt16(bytes[index + 1]) << 8
  }

  /// Writes a header and returns the length of the whole frame.
  @_noLocks @_noAllocation
  static func begin(_ type: UInt8, payload: UInt8, in buffer: UnsafeMutableRawBufferPointer) -> Int {
    buffer[0] = version
    buffer[1] = type
    buffer[2] = payload
    buffer[3] = 0
    return headerCount &+ Int(payload)
  }

  @_noLocks @_noAllocation
  static func put(_ word: UInt16, in buffer: UnsafeMutableRawBufferPointer, at index: Int) {
    buffer[index] = UInt8(truncatingIfNeeded: word)
    buffer[index + 1] = UInt8(truncatingIfNeeded: word >> 8)
  }
}

/// The reason why bytes could not be decoded as a LegCtrl frame of the expected kind: the received value and, where it varies, the expected one.
public enum LegFrameError: Error, Sendable, Hashable, BitwiseCopyable {
  /// The frame is shorter than the 4 bytes of the header.
  case noHeader(count: Int)
  /// The version is not 1.
  case wrongVersion(UInt8)
  /// The type is none of the commands 1…4.
  case notACommand(type: UInt8)
  /// The type is not that of telemetry, 0x10.
  case notTelemetry(type: UInt8)
  /// The payload length in the header does not fit the type.
  case wrongPayloadLength(type: UInt8, expected: UInt8, got: UInt8)
  /// The frame is shorter or longer than its header says.
  case wrongLength(type: UInt8, expected: Int, got: Int)
  /// The state in a telemetry frame is not 0…2.
  case unknownState(UInt8)
}
