/// Which leg a binary frame of a WebSocket is for.
///
/// A LegCtrl frame as it is, which begins with its version 0x01, is for leg 0, so that a client that knows one leg only needs
/// to know nothing else. For leg k the byte 0x80 + k comes before it. No text begins with such a byte, so a robot's datagram
/// cannot be taken for one.
struct LegFrameAddress: Equatable {
  let leg: Int
  /// Whether the byte was there: telemetry goes back the same way.
  let isPrefixed: Bool
  private let frame: [UInt8]

  /// It is `nil` if it is no leg's frame.
  init?(_ frame: [UInt8]) {
    guard let first = frame.first, Self.isLegs(frame) else { return nil }
    isPrefixed = first != 0x01
    leg = isPrefixed ? Int(first & 0x0F) : 0
    self.frame = frame
  }

  /// The LegCtrl frame.
  var payload: ArraySlice<UInt8> { isPrefixed ? frame.dropFirst() : frame[...] }

  /// What stands before each frame of a leg, 0…15, both ways; nothing for leg 0.
  static func prefix(of leg: Int) -> [UInt8] { leg == 0 ? [] : [0x80 | UInt8(clamping: leg)] }

  static func isLegs(_ frame: [UInt8]) -> Bool { frame.first == 0x01 || frame.first.map { $0 & 0xF0 } == 0x80 }
}
