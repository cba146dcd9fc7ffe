@_spi(FromOutside) import Conversions

/// The leg to which a binary WebSocket frame is addressed.
///
/// A plain LegCtrl frame, which begins with its version 0x01, is for leg 0, so that a client with only one leg needs no addressing. For
/// leg k, 0…63, the byte 0x80 + k precedes the frame. No text begins with such a byte, so a robot's datagram cannot be mistaken for a leg's
/// frame.
struct LegFrameAddress: Equatable {
  let leg: Int
  /// Whether the frame had the address byte. If it had, the telemetry sent in return has it as well.
  let isPrefixed: Bool
  private let frame: [UInt8]

  /// Creates the address of a frame, or `nil` if the frame is not for a leg.
  init?(_ frame: [UInt8]) {
    guard let first = frame.first, Self.isLegs(frame) else { return nil }
    isPrefixed = first != 0x01
    leg = isPrefixed ? Int(first & 0x3F) : 0
    self.frame = frame
  }

  /// The LegCtrl frame without the address byte.
  var payload: ArraySlice<UInt8> { isPrefixed ? frame.dropFirst() : frame[...] }

  /// Returns the bytes that precede each frame to or from a leg, 0…63; none for leg 0.
  static func prefix(of leg: Int) -> [UInt8] { leg == 0 ? [] : [0x80 | UInt8(clamping: leg)] }

  static func isLegs(_ frame: [UInt8]) -> Bool { frame.first == 0x01 || frame.first.map { $0 & 0xC0 } == 0x80 }
}
