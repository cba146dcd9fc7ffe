import Buses
import BusesLinux

/// One write that brings an output into its safe state. The guard process gets it on its command line, where `ps` shows what it will do.
public enum SafeStateWrite: Hashable, Sendable {
  /// SMBus "write byte data". Path `/dev/i2c-N`, address 0x08…0x77.
  case i2cByte(path: String, address: UInt8, register: UInt8, byte: UInt8)
  /// SMBus "I2C block write", 1…32 bytes.
  case i2cBlock(path: String, address: UInt8, register: UInt8, bytes: [UInt8])
  /// A write without a register, 1…32 bytes.
  case i2cPlain(path: String, address: UInt8, bytes: [UInt8])
  /// Bytes on a serial line, 8N1, at a rate of `LinuxSerialPort.baudRates`.
  case serial(path: String, baud: Int, bytes: [UInt8])
  /// 1…64 lines of one chip, `/dev/gpiochipN`. `descriptor`: one that holds them, which the guard inherits: it can write them while the
  /// program hangs, and no other process gets them in between (`gpio(_:)`). `nil` if the guard requests them itself, which works only when the
  /// program is gone, or has no hold of them.
  case gpio(path: String, lines: [Line], descriptor: Int32?)
  /// A PWM output's duty nothing, or else switched off: `/sys/class/pwm/pwmchip0/pwm0`. It must have been exported.
  case pwm(path: String)
  /// A program by its absolute path, and its arguments; exit status 0 is the confirmation. It gets five seconds, then it is killed and
  /// started again.
  case program([String])
  /// What the program that embeds the guard knows how to do, by `GuardProcess.outputs`: a name of lower-case letters and a text.
  case custom(name: String, text: String)

  /// A line by its offset on the chip, 0…1023.
  public struct Line: Hashable, Sendable {
    /// On the chip, 0…1023.
    public var offset: Int
    /// Whether active is the low level.
    public var isActiveLow: Bool
    /// Whether the safe state is the active one: a brake that holds while its line is active.
    public var isActive: Bool

    /// - Parameters: see the properties.
    public init(offset: Int, isActiveLow: Bool = false, isActive: Bool = false) {
      self.offset = offset
      self.isActiveLow = isActiveLow
      self.isActive = isActive
    }
  }

  /// Every line inactive that this program holds; the guard inherits them, so they stay held when the program dies.
  public static func gpio(_ lines: LinuxGPIOLines) -> SafeStateWrite {
    .gpio(
      path: lines.chipPath,
      lines: zip(lines.offsets, lines.lines).map { Line(offset: $0, isActiveLow: $1.isActiveLow) },
      descriptor: lines.descriptor)
  }

  /// What is wrong with it, or `nil` if nothing is.
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
  /// What one opened device serves: writes with the same text here share it.
  var device: String {
    switch self {
    case .i2cByte(let path, _, _, _), .i2cBlock(let path, _, _, _), .i2cPlain(let path, _, _), .serial(let path, _, _),
      .pwm(let path):
      path
    case .gpio, .program, .custom: description
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
