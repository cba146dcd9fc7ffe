@_spi(FromOutside) import Conversions

/// A key that the operator of a leg pressed.
enum LegKey: Equatable {
  case arm
  case disarm
  /// Disarm with the space bar, which is the largest key because this is the most urgent command.
  case disarmAtOnce
  case ping
  /// Send the slider's pulse once.
  case send
  /// Switch the 50 Hz pulse on or off.
  case keepalive
  /// Move the slider by this many microseconds.
  case move(by: Int)
  case moveTo(microseconds: Int)
  /// Scroll the log by this many lines; positive is up.
  case scroll(by: Int)
  case quit
}

/// Decodes a terminal's bytes into keys. An escape sequence may arrive in pieces.
struct LegKeyDecoder {
  private enum State {
    case plain
    case escape
    /// The bytes `ESC [` or `ESC O` have been read, and these parameters since.
    case sequence([UInt8])
  }

  private var state = State.plain

  /// Returns the key that ends with this byte, or `nil` if no key ends here.
  mutating func key(_ byte: UInt8) -> LegKey? {
    switch state {
    case .plain:
      if byte == 0x1B { state = .escape } else { return Self.plain(byte) }
    case .escape:
      switch byte {
      case UInt8(ascii: "["), UInt8(ascii: "O"): state = .sequence([])
      case 0x1B: break
      default:
        state = .plain
        return Self.plain(byte)
      }
    case .sequence(let parameters):
      // Parameters and intermediates go on; a byte from @ on ends it.
      if byte < 0x40 {
        state = .sequence(parameters.count < 16 ? parameters + [byte] : parameters)
      } else {
        state = .plain
        return Self.sequence(String(decoding: parameters, as: UTF8.self), byte)
      }
    }
    return nil
  }

  private static func plain(_ byte: UInt8) -> LegKey? {
    switch byte {
    case UInt8(ascii: "a"), UInt8(ascii: "A"): .arm
    case UInt8(ascii: "d"), UInt8(ascii: "D"): .disarm
    case UInt8(ascii: " "): .disarmAtOnce
    case UInt8(ascii: "p"), UInt8(ascii: "P"): .ping
    case UInt8(ascii: "\r"), UInt8(ascii: "\n"): .send
    case UInt8(ascii: "k"), UInt8(ascii: "K"): .keepalive
    case UInt8(ascii: "c"), UInt8(ascii: "C"): .moveTo(microseconds: 1500)
    case UInt8(ascii: "0")...UInt8(ascii: "9"): .moveTo(microseconds: 500 + 200 * Int(byte - UInt8(ascii: "0")))
    case UInt8(ascii: "q"), UInt8(ascii: "Q"), 0x03, 0x04: .quit
    default: nil
    }
  }

  private static func sequence(_ parameters: String, _ final: UInt8) -> LegKey? {
    // xterm: `1;2` is shift. Linux's console and rxvt tell no modifiers, or lower-case letters.
    let isShifted = parameters.hasSuffix(";2")
    switch final {
    case UInt8(ascii: "A"): return .move(by: 100)
    case UInt8(ascii: "B"): return .move(by: -100)
    case UInt8(ascii: "C"): return .move(by: isShifted ? 100 : 10)
    case UInt8(ascii: "D"): return .move(by: isShifted ? -100 : -10)
    case UInt8(ascii: "c"): return .move(by: 100)
    case UInt8(ascii: "d"): return .move(by: -100)
    case UInt8(ascii: "H"): return .moveTo(microseconds: 500)
    case UInt8(ascii: "F"): return .moveTo(microseconds: 2500)
    case UInt8(ascii: "~"):
      switch parameters.prefix(while: { $0 != ";" }) {
      case "1", "7": return .moveTo(microseconds: 500)
      case "4", "8": return .moveTo(microseconds: 2500)
      case "5": return .scroll(by: 10)
      case "6": return .scroll(by: -10)
      default: return nil
      }
    default: return nil
    }
  }
}
