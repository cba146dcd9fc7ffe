/// One write that brings an actuator into its safe state, as the guard process gets it: on its command line, where
/// `ps` shows what it will do.
enum SafeStateWrite: Equatable, Sendable {
  /// SMBus "write byte data".
  case i2cByte(path: String, address: UInt8, register: UInt8, byte: UInt8)
  /// SMBus "I2C block write", 1…32 bytes.
  case i2cBlock(path: String, address: UInt8, register: UInt8, bytes: [UInt8])
  /// Bytes on a serial line, 8N1.
  case serial(path: String, baud: Int, bytes: [UInt8])
}

extension SafeStateWrite: CustomStringConvertible {
  /// `i2c-byte:16:02:00:/dev/i2c-1`, `i2c-block:16:01:01000100:/dev/i2c-1`, `serial:115200:5500…AA:/dev/ttyAMA0`; numbers
  /// in hexadecimal but for the baud rate, the path last because it may hold colons.
  var description: String {
    switch self {
    case .i2cByte(let path, let address, let register, let byte):
      "i2c-byte:\(hexText([address])):\(hexText([register])):\(hexText([byte])):\(path)"
    case .i2cBlock(let path, let address, let register, let bytes):
      "i2c-block:\(hexText([address])):\(hexText([register])):\(hexText(bytes)):\(path)"
    case .serial(let path, let baud, let bytes):
      "serial:\(baud):\(hexText(bytes)):\(path)"
    }
  }

  /// Reads what `description` writes; nil for anything else.
  init?(_ text: String) {
    let kind = text.prefix { $0 != ":" }
    let fields = text.split(separator: ":", maxSplits: kind == "serial" ? 3 : 4, omittingEmptySubsequences: false)
    switch (kind, fields.count) {
    case ("i2c-byte", 5), ("i2c-block", 5):
      guard let address = hexBytes(fields[1]), let register = hexBytes(fields[2]), let bytes = hexBytes(fields[3]),
        address.count == 1, register.count == 1, (0x08...0x77).contains(address[0]), (1...32).contains(bytes.count),
        !fields[4].isEmpty
      else { return nil }
      if kind == "i2c-block" {
        self = .i2cBlock(path: String(fields[4]), address: address[0], register: register[0], bytes: bytes)
      } else {
        guard bytes.count == 1 else { return nil }
        self = .i2cByte(path: String(fields[4]), address: address[0], register: register[0], byte: bytes[0])
      }
    case ("serial", 4):
      guard let baud = Int(fields[1]), let bytes = hexBytes(fields[2]), !bytes.isEmpty, !fields[3].isEmpty else {
        return nil
      }
      self = .serial(path: String(fields[3]), baud: baud, bytes: bytes)
    default:
      return nil
    }
  }

  var path: String {
    switch self {
    case .i2cByte(let path, _, _, _), .i2cBlock(let path, _, _, _), .serial(let path, _, _): path
    }
  }
}

private func hexText(_ bytes: [UInt8]) -> String {
  bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

private func hexBytes(_ text: Substring) -> [UInt8]? {
  let digits = text.compactMap(\.hexDigitValue)
  guard digits.count == text.count, digits.count.isMultiple(of: 2), !digits.isEmpty else { return nil }
  return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}
