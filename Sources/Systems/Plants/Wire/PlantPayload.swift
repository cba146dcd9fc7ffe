/// The escapes of a Plant-Tracker payload: `:` is `--`, `;` is `||`.
///
/// The escapes themselves cannot be escaped: `survives` returns whether a text is unchanged after escaping and unescaping.
public enum PlantPayload {
  public static func escaped(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 == 0x3A || $0 == 0x3B }) else { return text }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count + 16)
    for byte in text.utf8 {
      switch byte {
      case 0x3A:
        bytes.append(0x2D)
        bytes.append(0x2D)
      case 0x3B:
        bytes.append(0x7C)
        bytes.append(0x7C)
      default: bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns the text without escapes, processed from left to right. A single bar also becomes `;`, because the original host writes it so.
  public static func unescaped(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 == 0x2D || $0 == 0x7C }) else { return text }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count)
    /// A hyphen or a bar that may be the first of two.
    var held: UInt8?
    for byte in text.utf8 {
      if let first = held {
        held = nil
        if byte == first {
          bytes.append(first == 0x2D ? 0x3A : 0x3B)
          continue
        }
        bytes.append(first == 0x2D ? first : 0x3B)
      }
      if byte == 0x2D || byte == 0x7C { held = byte } else { bytes.append(byte) }
    }
    if let held { bytes.append(held == 0x2D ? held : 0x3B) }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns whether a payload is unchanged after escaping and unescaping: no `--`, no `|`, no `-` before a `:`.
  public static func survives(_ text: String) -> Bool { unescaped(escaped(text)).utf8.elementsEqual(text.utf8) }
}
