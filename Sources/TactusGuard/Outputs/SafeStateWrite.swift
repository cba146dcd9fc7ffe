import Buses
import BusesLinux
@_spi(FromOutside) import Conversions

/// A write that brings an output into its safe state. The guard process gets its writes on its command line, where `ps` shows what it will do.
public enum SafeStateWrite: Hashable, Sendable {
  /// An SMBus "write byte data". The path is `/dev/i2c-N`, the address 0x08…0x77.
  case i2cByte(path: String, address: UInt8, register: UInt8, byte: UInt8)
  /// An SMBus "I2C block write" of 1…32 bytes.
  case i2cBlock(path: String, address: UInt8, register: UInt8, bytes: [UInt8])
  /// An I2C write of 1…32 bytes without a register.
  case i2cPlain(path: String, address: UInt8, bytes: [UInt8])
  /// A write of bytes to a serial line, 8N1, at one of the rates in `LinuxSerialPort.baudRates`.
  case serial(path: String, baud: Int, bytes: [UInt8])
  /// A write to 1…64 lines of one chip, `/dev/gpiochipN`. `descriptor` is a descriptor that holds the lines and that the guard
  /// inherits: the guard can then write the lines while the program hangs, and no other process can take them in between
  /// (`gpio(_:)`). With `nil` the guard requests the lines itself, which works only when the program has ended or does not hold
  /// them.
  case gpio(path: String, lines: [Line], descriptor: Int32?)
  /// A PWM output, such as `/sys/class/pwm/pwmchip0/pwm0`, whose duty is set to 0 or which is otherwise disabled. The output must have been exported.
  case pwm(path: String)
  /// A program, by its absolute path and arguments, whose exit status 0 confirms the safe state. It is killed and started again if
  /// it takes longer than five seconds.
  case program([String])
  /// A write that the embedding program implements by `GuardProcess.outputs`, with a name of lower-case letters and a text.
  case custom(name: String, text: String)

  /// A line by its offset on the chip, 0…1023.
  public struct Line: Hashable, Sendable {
    /// The offset of the line on the chip, 0…1023.
    public var offset: Int
    /// Whether the line is active at the low level.
    public var isActiveLow: Bool
    /// Whether the line's safe state is the active one, as for a brake that holds while its line is active.
    public var isActive: Bool

    /// Creates a line, by default active at the high level and with the inactive state as its safe state.
    public init(offset: Int, isActiveLow: Bool = false, isActive: Bool = false) {
      self.offset = offset
      self.isActiveLow = isActiveLow
      self.isActive = isActive
    }
  }

  /// Returns a write that makes every line inactive that this program holds. The guard inherits the lines, so they stay held when the program dies.
  public static func gpio(_ lines: LinuxGPIOLines) -> SafeStateWrite {
    .gpio(
      path: lines.chipPath,
      lines: zip(lines.offsets, lines.lines).map { Line(offset: $0, isActiveLow: $1.isActiveLow) },
      descriptor: lines.descriptor)
  }

  /// The reason why the write is invalid, or `nil` if it is valid.
  public var flaw: String? {
    switch self {
    case .i2cByte(let path, let address, _, let byte): Self.flaw(path, address, [byte])
    case .i2cBlock(let path, let address, _, let bytes), .i2cPlain(let path, let address, let bytes):
      Self.flaw(path, address, bytes)
    case .serial(let path, let baud, let bytes):
      Self.flaw(path)
        ?? (LinuxSerialPort.baudRates.contains(baud) ? nil : "\(baud) bit/s is no rate of a serial line")
        ?? (bytes.isEmpty ? "a write has bytes" : nil)
    case .gpio(let path, let lines, let descriptor):
      Self.flaw(path) ?? Self.flaw(lines)
        ?? (descriptor ?? 0 >= 0 ? nil : "a descriptor is 0 or more, got \(descriptor ?? 0)")
    case .pwm(let path): Self.flaw(path)
    case .program(let arguments):
      Self.flaw(arguments.first ?? "")
        ?? (arguments.contains { $0.utf8.contains(0) } ? "an argument has no zero byte" : nil)
    case .custom(let name, _):
      !name.isEmpty && name.utf8.allSatisfy { (0x61...0x7A).contains($0) } ? nil : "a name has lower-case letters only"
    }
  }

  private static func flaw(_ path: String) -> String? {
    path.hasPrefix("/") && !path.utf8.contains(0) ? nil : "a path is absolute, got \"\(path)\""
  }

  private static func flaw(_ path: String, _ address: UInt8, _ bytes: [UInt8]) -> String? {
    flaw(path) ?? (I2CAddress(address) == nil ? "an I2C address is 0x08…0x77, got \(address)" : nil)
      ?? ((1...I2CBytes.capacity).contains(bytes.count) ? nil : "a write has 1…32 bytes, got \(bytes.count)")
  }

  private static func flaw(_ lines: [Line]) -> String? {
    if !(1...GPIOLines.maximumCount).contains(lines.count) {
      return "1…64 lines are written together, got \(lines.count)"
    }
    if Set(lines.map(\.offset)).count < lines.count { return "a line is named once" }
    return lines.allSatisfy { (0..<1_024).contains($0.offset) } ? nil : "a line's offset is 0…1023"
  }
}

extension SafeStateWrite {
  /// The name of the device that the write needs. Writes with the same name share one opened device.
  var device: String {
    switch self {
    case .i2cByte(let path, _, _, _), .i2cBlock(let path, _, _, _), .i2cPlain(let path, _, _), .serial(let path, _, _),
      .pwm(let path):
      path
    case .gpio, .program, .custom: description
    }
  }

  /// The descriptor that holds the lines in this process, or `nil` if the write is not to held lines.
  var heldDescriptor: Int32? {
    guard case .gpio(_, _, let descriptor) = self else { return nil }
    return descriptor
  }

  /// Returns the same write with the lines held by another descriptor.
  func held(by descriptor: Int32) -> SafeStateWrite {
    guard case .gpio(let path, let lines, _) = self else { return self }
    return .gpio(path: path, lines: lines, descriptor: descriptor)
  }
}

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
