@_spi(FromOutside) import Conversions

/// A key that the operator pressed.
enum DriveKey: Equatable {
  case forward, back, left, right
  /// Release the stick.
  case rest
  case emergencyStop
  case reset
  case quit
  /// Set the share of full speed at full stick, 1…10 tenths.
  case speed(tenths: Int)
}

/// Decodes a terminal's bytes into keys. An escape sequence may arrive in pieces.
struct KeyDecoder {
  private enum State {
    case plain
    case escape
    /// The bytes `ESC [` or `ESC O` have been read.
    case sequence
  }

  private var state = State.plain

  /// Returns the key that ends with this byte, or `nil` if no key ends here.
  mutating func key(_ byte: UInt8) -> DriveKey? {
    switch state {
    case .plain:
      if byte == 0x1B {
        state = .escape
        return nil
      }
      return Self.plain(byte)
    case .escape:
      state = byte == UInt8(ascii: "[") || byte == UInt8(ascii: "O") ? .sequence : byte == 0x1B ? .escape : .plain
      return state == .plain ? Self.plain(byte) : nil
    case .sequence:
      // Parameters and intermediates go on; a byte from @ on ends it.
      guard byte >= 0x40 else { return nil }
      state = .plain
      return Self.arrow(byte)
    }
  }

  private static func arrow(_ byte: UInt8) -> DriveKey? {
    switch byte {
    case UInt8(ascii: "A"): .forward
    case UInt8(ascii: "B"): .back
    case UInt8(ascii: "C"): .right
    case UInt8(ascii: "D"): .left
    default: nil
    }
  }

  private static func plain(_ byte: UInt8) -> DriveKey? {
    switch byte {
    case UInt8(ascii: "w"), UInt8(ascii: "W"): .forward
    case UInt8(ascii: "s"), UInt8(ascii: "S"): .back
    case UInt8(ascii: "a"), UInt8(ascii: "A"): .left
    case UInt8(ascii: "d"), UInt8(ascii: "D"): .right
    case UInt8(ascii: "x"), UInt8(ascii: "X"), 0x0D, 0x0A: .rest
    case UInt8(ascii: " "): .emergencyStop
    case UInt8(ascii: "r"), UInt8(ascii: "R"): .reset
    case UInt8(ascii: "q"), UInt8(ascii: "Q"), 0x03, 0x04: .quit
    case UInt8(ascii: "1")...UInt8(ascii: "9"): .speed(tenths: Int(byte - UInt8(ascii: "0")))
    case UInt8(ascii: "0"): .speed(tenths: 10)
    default: nil
    }
  }
}
