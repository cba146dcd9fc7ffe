import Buses
import BusesLinux

/// Opens the devices of a list of safe-state writes and makes the writes.
public final class SafeStateWriter {
  /// Creates the output of a custom write from the text of the write.
  public typealias MakeOutput = (_ text: String) throws -> any GuardOutput

  private enum Device {
    case i2c(LinuxI2CBus)
    case serial(LinuxSerialPort)
    case gpio(LinuxGPIOLines)
    case pwm(LinuxPWMShutdown)
    case other(any GuardOutput)
  }

  /// The safe-state writes, in the order in which they are made.
  public let writes: [SafeStateWrite]
  private let custom: [String: MakeOutput]
  private var devices: [String: Device] = [:]

  /// Creates a writer that has opened no device yet.
  ///
  /// - Parameter custom: functions that create the outputs of custom writes, by the names of the writes.
  public init(_ writes: [SafeStateWrite], custom: [String: MakeOutput] = [:]) {
    self.writes = writes
    self.custom = custom
  }

  /// The devices that cannot confirm a write, in the order of the writes: serial lines, of which only the kernel has taken the bytes.
  public var unconfirmed: [String] {
    var paths: [String] = []
    for case .serial(let path, _, _) in writes where !paths.contains(path) { paths.append(path) }
    return paths
  }

  /// Opens the devices that are not open yet, so that a later write needs no path and no permission. Returns the devices that could
  /// not be opened. GPIO lines that the guard does not inherit, and custom outputs, are left to the program as long as it is alive.
  public func open() -> [String] { open(takesAll: false) }

  /// Releases outputs that either the program or the guard can hold, because the program is back.
  public func release() {
    for write in writes {
      if case .custom = write { devices[write.device] = nil }
    }
  }

  private func open(takesAll: Bool) -> [String] {
    var failures: [String] = []
    for write in writes where devices[write.device] == nil {
      switch write {
      case .gpio(_, _, nil), .custom: if !takesAll { continue }
      case .gpio, .i2cByte, .i2cBlock, .i2cPlain, .serial, .pwm, .program: break
      }
      do {
        devices[write.device] = try device(of: write)
      } catch {
        failures.append("\(error)")
      }
    }
    return failures
  }

  /// Makes every write, even if an earlier one fails. Returns the failures. If there are none the safe state is confirmed: for a
  /// serial line the kernel has taken all bytes, GPIO lines and PWM outputs were read back, and a program ended with status 0.
  ///
  /// Blocks for at most 30 ms for each I2C write. A device that failed is opened anew the next time. Lines that were once held are
  /// held until the guard ends.
  public func write() -> [String] {
    var failures = open(takesAll: true)
    for write in writes {
      guard let device = devices[write.device] else { continue }
      if let failure = Self.perform(write, on: device) {
        failures.append("\(write): \(failure)")
        switch device {
        // These devices stay open: the lines are held, and a program is running.
        case .gpio, .other: continue
        case .i2c, .serial, .pwm: devices[write.device] = nil
        }
      }
    }
    return failures
  }

  private func device(of write: SafeStateWrite) throws -> Device {
    switch write {
    case .i2cByte(let path, _, _, _): .i2c(try LinuxI2CBus(path: path, operations: [.writeByte]))
    case .i2cBlock(let path, _, _, _): .i2c(try LinuxI2CBus(path: path, operations: [.writeBlock]))
    case .i2cPlain(let path, _, _): .i2c(try LinuxI2CBus(path: path, operations: [.plainWrite]))
    // The line is opened without exclusive access, since the program holds it.
    case .serial(let path, let baud, _): .serial(try LinuxSerialPort(path: path, baudRate: baud, exclusive: false))
    case .pwm(let path): .pwm(try LinuxPWMShutdown(path: path))
    case .program(let arguments): .other(try ProgramOutput(arguments))
    case .gpio(let path, let lines, let descriptor): .gpio(try Self.held(lines, of: path, by: descriptor))
    case .custom(let name, let text):
      if let make = custom[name] {
        .other(try make(text))
      } else {
        throw GuardError.cannotOpen(["\(name): no maker of such an output is known"])
      }
    }
  }

  /// Returns the held lines. Lines that the guard requests itself become outputs at their safe level, so they are safe from that moment on.
  private static func held(
    _ lines: [SafeStateWrite.Line], of path: String, by descriptor: Int32?
  ) throws(GPIORequestError) -> LinuxGPIOLines {
    let named = lines.map {
      GPIOLine(
        GPIOLineName(.offset($0.offset, chip: path)),
        isActiveLow: descriptor == nil ? $0.isActiveLow != $0.isActive : $0.isActiveLow)
    }
    guard let descriptor else {
      return try LinuxGPIOLines(named, consumer: "tactus-guard", among: [LinuxGPIOChip(path: path)])
    }
    return try LinuxGPIOLines(inherited: descriptor, named, offsets: lines.map(\.offset), chipPath: path)
  }

  private static func perform(_ write: SafeStateWrite, on device: Device) -> String? {
    switch (write, device) {
    case (.i2cByte(_, let address, let register, let byte), .i2c(let owner)):
      return transfer(on: owner) { (bus) throws(I2CError) in
        try bus.writeByte(byte, to: checked(address), register: register)
      }
    case (.i2cBlock(_, let address, let register, let bytes), .i2c(let owner)):
      return transfer(on: owner) { (bus) throws(I2CError) in
        try bus.writeBlock(block(bytes), to: checked(address), register: register)
      }
    case (.i2cPlain(_, let address, let bytes), .i2c(let owner)):
      return transfer(on: owner) { (bus) throws(I2CError) in try bus.plainWrite(block(bytes), to: checked(address)) }
    case (.serial(_, _, let bytes), .serial(let owner)):
      return send(bytes, on: owner)
    case (.gpio(_, let lines, let descriptor), .gpio(let owner)):
      return set(descriptor == nil ? 0 : lines.activeMask, on: owner)
    case (.pwm, .pwm(let owner)):
      return owner.turnOff()
    case (.program, .other(let output)), (.custom, .other(let output)):
      return output.makeSafe()
    default:
      return "one path is named as two kinds of device"
    }
  }

  private static func transfer(on owner: LinuxI2CBus, _ body: (inout I2CBus) throws(I2CError) -> Void) -> String? {
    var bus = owner.port()
    do throws(I2CError) {
      try body(&bus)
      return nil
    } catch {
      return "\(error)"
    }
  }

  private static func set(_ values: UInt64, on owner: LinuxGPIOLines) -> String? {
    var port = owner.port()
    do throws(GPIOError) {
      try port.set(mask: port.all, values: values)
      let wrong = try port.read() ^ values
      guard wrong != 0 else { return nil }
      let stuck = owner.offsets.indices.filter { wrong >> UInt64(clamping: $0) & 1 != 0 }.map {
        String(owner.offsets[$0])
      }
      return "turned off, but line \(stuck.joined(separator: ", ")) still shows the active level"
    } catch {
      return "\(error)"
    }
  }

  private static func send(_ bytes: [UInt8], on owner: LinuxSerialPort) -> String? {
    var port = owner.port()
    return bytes.withUnsafeBytes { bytes in
      do throws(SerialError) {
        try port.write(bytes)
        return nil
      } catch {
        return "\(error)"
      }
    }
  }

  private static func block(_ bytes: [UInt8]) -> I2CBytes {
    var block = I2CBytes()
    for byte in bytes { block.append(byte) }
    return block
  }

  private static func checked(_ address: UInt8) -> I2CAddress {
    guard let address = I2CAddress(address) else { preconditionFailure("a SafeStateWrite's address is valid") }
    return address
  }
}

extension [SafeStateWrite.Line] {
  /// A mask in which bit k says that the safe state of line k is active.
  fileprivate var activeMask: UInt64 {
    indices.reduce(0) { self[$1].isActive ? $0 | 1 << UInt64(clamping: $1) : $0 }
  }
}
