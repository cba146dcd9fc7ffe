@_spi(FromOutside) import Conversions

extension SafeStateWrite: CustomStringConvertible {
  /// The write as text: `i2c-byte:16:02:00:/dev/i2c-1`, `i2c-block:16:01:01000100:/dev/i2c-1`, `i2c-plain:16:00:/dev/i2c-1` or
  /// `serial:115200:5500…AA:/dev/ttyAMA0`, with bytes in hexadecimal and the path last because it may contain colons.
  /// `gpio:4:17,!27,5=1:/dev/gpiochip0` stands for three lines by descriptor 4 (`-` for no descriptor): line 17; line 27, which is
  /// active when low; and line 5, whose safe state is active. `pwm:/sys/…/pwm0`; `program:/usr/bin/off --all`, with `\` before each
  /// space and `\` of an argument; `NAME:TEXT` for a custom write.
  public var description: String {
    switch self {
    case .i2cByte(let path, let address, let register, let byte):
      "i2c-byte:\(hexText([address])):\(hexText([register])):\(hexText([byte])):\(path)"
    case .i2cBlock(let path, let address, let register, let bytes):
      "i2c-block:\(hexText([address])):\(hexText([register])):\(hexText(bytes)):\(path)"
    case .i2cPlain(let path, let address, let bytes): "i2c-plain:\(hexText([address])):\(hexText(bytes)):\(path)"
    case .serial(let path, let baud, let bytes):
      "serial:\(baud):\(hexText(bytes)):\(path)"
    case .pwm(let path): "pwm:\(path)"
    case .program(let arguments): "program:\(arguments.map(escaped).joined(separator: " "))"
    case .custom(let name, let text): "\(name):\(text)"
    case .gpio(let path, let lines, let descriptor):
      "gpio:\(descriptor.map { String($0) } ?? "-"):\(lines.map(\.description).joined(separator: ",")):\(path)"
    }
  }

  /// Parses the text that `description` gives. The result is `nil` for any other text.
  ///
  /// - Parameter custom: the names of custom writes.
  public init?(_ text: String, custom: Set<String> = []) {
    guard let colon = text.firstIndex(of: ":") else { return nil }
    let kind = String(text[..<colon])
    let rest = text[text.index(after: colon)...]
    let read: SafeStateWrite?
    switch kind {
    case "i2c-byte", "i2c-block": read = Self.registerWrite(rest, isByte: kind == "i2c-byte")
    case "i2c-plain": read = Self.plainWrite(rest)
    case "serial": read = Self.serialWrite(rest)
    case "gpio": read = Self.lineWrite(rest)
    case "pwm": read = .pwm(path: String(rest))
    case "program": read = unescaped(rest).map { .program($0) }
    default: read = custom.contains(kind) ? .custom(name: kind, text: String(rest)) : nil
    }
    guard let read, read.flaw == nil else { return nil }
    self = read
  }

  private static func fields(_ text: Substring, _ count: Int) -> [Substring]? {
    let fields = text.split(separator: ":", maxSplits: count - 1, omittingEmptySubsequences: false)
    return fields.count == count ? fields : nil
  }

  private static func registerWrite(_ text: Substring, isByte: Bool) -> SafeStateWrite? {
    guard let fields = fields(text, 4), let address = hexBytes(fields[0]), let register = hexBytes(fields[1]),
      let bytes = hexBytes(fields[2]), address.count == 1, register.count == 1, !isByte || bytes.count == 1
    else { return nil }
    let path = String(fields[3])
    return isByte
      ? .i2cByte(path: path, address: address[0], register: register[0], byte: bytes[0])
      : .i2cBlock(path: path, address: address[0], register: register[0], bytes: bytes)
  }

  private static func plainWrite(_ text: Substring) -> SafeStateWrite? {
    guard let fields = fields(text, 3), let address = hexBytes(fields[0]), let bytes = hexBytes(fields[1]),
      address.count == 1
    else { return nil }
    return .i2cPlain(path: String(fields[2]), address: address[0], bytes: bytes)
  }

  private static func serialWrite(_ text: Substring) -> SafeStateWrite? {
    guard let fields = fields(text, 3), let baud = Int(fields[0]), let bytes = hexBytes(fields[1]) else { return nil }
    return .serial(path: String(fields[2]), baud: baud, bytes: bytes)
  }

  private static func lineWrite(_ text: Substring) -> SafeStateWrite? {
    guard let fields = fields(text, 3) else { return nil }
    let lines = fields[1].split(separator: ",", omittingEmptySubsequences: false).map { Line($0) }
    let descriptor = Int32(fields[0])
    guard descriptor != nil || fields[0] == "-", !lines.contains(nil) else { return nil }
    return .gpio(path: String(fields[2]), lines: lines.compactMap(\.self), descriptor: descriptor)
  }
}

extension SafeStateWrite.Line: CustomStringConvertible {
  public var description: String { (isActiveLow ? "!" : "") + String(offset) + (isActive ? "=1" : "") }

  init?(_ text: Substring) {
    let isActive = text.hasSuffix("=1")
    let digits = (text.first == "!" ? text.dropFirst() : text).dropLast(isActive ? 2 : 0)
    guard digits.allSatisfy({ ("0"..."9").contains($0) }), let offset = Int(digits) else { return nil }
    self.init(offset: offset, isActiveLow: text.first == "!", isActive: isActive)
  }
}

private func hexText(_ bytes: [UInt8]) -> String {
  bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

private func hexBytes(_ text: Substring) -> [UInt8]? {
  let digits = text.compactMap(\.hexDigitValue)
  guard digits.count == text.count, digits.count.isMultiple(of: 2), !digits.isEmpty else { return nil }
  return stride(from: 0, to: digits.count, by: 2).map { UInt8(clamping: digits[$0] << 4 | digits[$0 + 1]) }
}

private func escaped(_ argument: String) -> String {
  String(argument.flatMap { $0 == " " || $0 == "\\" ? ["\\", $0] : [$0] })
}

private func unescaped(_ text: Substring) -> [String]? {
  var arguments = [""]
  var isEscaped = false
  for character in text {
    switch (isEscaped, character) {
    case (false, "\\"): isEscaped = true
    case (false, " "): arguments.append("")
    default:
      arguments[arguments.count - 1].append(character)
      isEscaped = false
    }
  }
  return isEscaped ? nil : arguments
}
