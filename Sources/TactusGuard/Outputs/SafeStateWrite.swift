import Buses
import BusesLinux

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
