/// Why bytes could not be decoded as a LegCtrl frame of the expected kind: the received value and, where it varies, the expected one.
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
