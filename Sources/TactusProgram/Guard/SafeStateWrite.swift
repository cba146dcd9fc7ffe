/// One write that brings an actuator into its safe state, as the guard process gets it: on its command line, where
/// `ps` shows what it will do.
enum SafeStateWrite: Equatable, Sendable {
  /// SMBus "write byte data".
  case i2cByte(path: String, address: UInt8, register: UInt8, byte: UInt8)
  /// SMBus "I2C block write", 1…32 bytes.
  case i2cBlock(path: String, address: UInt8, register: UInt8, bytes: [UInt8])
  /// Bytes on a serial line, 8N1.
  case serial(path: String, baud: Int, bytes: [UInt8])
  /// Every one of these lines inactive. `descriptor`: one that holds them, which the guard inherits: it can turn them off
  /// while the daemon hangs, and nobody else gets them in between. nil: the guard requests them itself, which works only when
  /// the daemon is gone.
  case gpio(path: String, lines: [Line], descriptor: Int32?)
  /// A PWM output's duty nothing, or else switched off: `/sys/class/pwm/pwmchip0/pwm0`.
  case pwm(path: String)
  /// OFF to a pump by Bluetooth, until it confirms it.
  case pump(BluetoothPlace)

  /// A line by its offset on the chip.
  struct Line: Equatable, Sendable {
    var offset: Int
    var isActiveLow: Bool
  }
}

extension SafeStateWrite: CustomStringConvertible {
  /// `i2c-byte:16:02:00:/dev/i2c-1`, `i2c-block:16:01:01000100:/dev/i2c-1`, `serial:115200:5500…AA:/dev/ttyAMA0`; bytes in
  /// hexadecimal, the path last because it may hold colons. `gpio:4:17,!27:/dev/gpiochip0`: by descriptor 4 (`-`: none) line
  /// 17, and 27, which is active when low. `pwm:/sys/…/pwm0`, `pump:HMSoft@hci0`.
  var description: String {
    switch self {
    case .i2cByte(let path, let address, let register, let byte):
      "i2c-byte:\(hexText([address])):\(hexText([register])):\(hexText([byte])):\(path)"
    case .i2cBlock(let path, let address, let register, let bytes):
      "i2c-block:\(hexText([address])):\(hexText([register])):\(hexText(bytes)):\(path)"
    case .serial(let path, let baud, let bytes):
      "serial:\(baud):\(hexText(bytes)):\(path)"
    case .pwm(let path): "pwm:\(path)"
    case .pump(let place): "pump:\(place)"
    case .gpio(let path, let lines, let descriptor):
      "gpio:\(descriptor.map { String($0) } ?? "-"):\(lines.map(\.description).joined(separator: ",")):\(path)"
    }
  }

  /// Reads what `description` writes; nil for anything else.
  init?(_ text: String) {
    let kind = text.prefix { $0 != ":" }
    let splits = kind.hasPrefix("i2c-") ? 4 : kind.hasPrefix("p") ? 1 : 3
    let fields = text.split(separator: ":", maxSplits: splits, omittingEmptySubsequences: false)
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
    case ("gpio", 4):
      let lines = fields[2].split(separator: ",", omittingEmptySubsequences: false).map { Line($0) }
      let descriptor = Int32(fields[1])
      guard descriptor ?? 0 >= 0, descriptor != nil || fields[1] == "-", (1...64).contains(lines.count),
        !lines.contains(nil), !fields[3].isEmpty
      else { return nil }
      self = .gpio(path: String(fields[3]), lines: lines.compactMap { $0 }, descriptor: descriptor)
    case ("pwm", 2):
      guard fields[1].hasPrefix("/") else { return nil }
      self = .pwm(path: String(fields[1]))
    case ("pump", 2):
      guard let place = BluetoothPlace(fields[1]) else { return nil }
      self = .pump(place)
    default:
      return nil
    }
  }

  /// What one opened device serves: writes with the same text here share it.
  var device: String {
    switch self {
    case .i2cByte(let path, _, _, _), .i2cBlock(let path, _, _, _), .serial(let path, _, _): path
    case .pwm(let path): path
    case .gpio, .pump: description
    }
  }

  /// The descriptor that holds the lines, in this process.
  var heldDescriptor: Int32? {
    guard case .gpio(_, _, let descriptor) = self else { return nil }
    return descriptor
  }

  /// The same lines, held by another descriptor.
  func held(by descriptor: Int32) -> SafeStateWrite {
    guard case .gpio(let path, let lines, _) = self else { return self }
    return .gpio(path: path, lines: lines, descriptor: descriptor)
  }
}

extension SafeStateWrite.Line: CustomStringConvertible {
  var description: String { (isActiveLow ? "!" : "") + String(offset) }

  init?(_ text: Substring) {
    let digits = text.first == "!" ? text.dropFirst() : text
    guard let offset = Int(digits), (0..<1_024).contains(offset), digits.first != "+" else { return nil }
    self.init(offset: offset, isActiveLow: text.first == "!")
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
