/// Why bytes are not a LegCtrl frame of the kind that was asked for: what came, and what was expected where that varies.
public enum LegFrameError: Error, Sendable, Hashable, BitwiseCopyable {
  /// Fewer than the header's 4 bytes.
  case noHeader(count: Int)
  /// A version other than 1.
  case wrongVersion(UInt8)
  /// A type that is none of the commands 1…4.
  case notACommand(type: UInt8)
  /// A type other than telemetry, 0x10.
  case notTelemetry(type: UInt8)
  /// The header's payload length is not the type's.
  case wrongPayloadLength(type: UInt8, expected: UInt8, got: UInt8)
  /// The frame is shorter or longer than its header says.
  case wrongLength(type: UInt8, expected: Int, got: Int)
  /// Telemetry: a state other than 0…2.
  case unknownState(UInt8)
}
