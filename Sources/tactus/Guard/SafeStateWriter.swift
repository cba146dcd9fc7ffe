import Buses
import BusesLinux

/// Opens the devices of a list of safe-state writes and makes the writes.
final class SafeStateWriter {
  private enum Device {
    case i2c(LinuxI2CBus)
    case serial(LinuxSerialPort)
  }

  let writes: [SafeStateWrite]
  private var devices: [String: Device] = [:]

  init(_ writes: [SafeStateWrite]) {
    self.writes = writes
  }

  /// Opens what is not open yet, so that a write later needs no path and no permission. What could not be opened.
  func open() -> [String] {
    var failures: [String] = []
    for write in writes where devices[write.path] == nil {
      do throws(BusOpenError) {
        devices[write.path] = try Self.device(of: write)
      } catch {
        failures.append("\(error)")
      }
    }
    return failures
  }

  /// Makes every write, also when an earlier one fails. What failed; empty: the safe state is confirmed, which for a
  /// serial line means that the kernel has taken all bytes.
  ///
  /// Blocks at most 30 ms for each I2C write. A device that failed is opened anew the next time.
  func write() -> [String] {
    var failures = open()
    for write in writes {
      guard let device = devices[write.path] else { continue }
      if let failure = Self.perform(write, on: device) {
        failures.append("\(write): \(failure)")
        devices[write.path] = nil
      }
    }
    return failures
  }

  private static func device(of write: SafeStateWrite) throws(BusOpenError) -> Device {
    switch write {
    case .i2cByte(let path, _, _, _): .i2c(try LinuxI2CBus(path: path, operations: [.writeByte]))
    case .i2cBlock(let path, _, _, _): .i2c(try LinuxI2CBus(path: path, operations: [.writeBlock]))
    // Not exclusive: the daemon has it open.
    case .serial(let path, let baud, _): .serial(try LinuxSerialPort(path: path, baudRate: baud, exclusive: false))
    }
  }

  private static func perform(_ write: SafeStateWrite, on device: Device) -> String? {
    do {
      switch (write, device) {
      case (.i2cByte(_, let address, let register, let byte), .i2c(let owner)):
        var bus = owner.port()
        try bus.writeByte(byte, to: checked(address), register: register)
      case (.i2cBlock(_, let address, let register, let bytes), .i2c(let owner)):
        var bus = owner.port()
        var block = I2CBytes()
        for byte in bytes { block.append(byte) }
        try bus.writeBlock(block, to: checked(address), register: register)
      case (.serial(_, _, let bytes), .serial(let owner)):
        var port = owner.port()
        try bytes.withUnsafeBytes { (bytes) throws(SerialError) in try port.write(bytes) }
      default:
        return "one path is named as two kinds of device"
      }
      return nil
    } catch {
      return "\(error)"
    }
  }

  private static func checked(_ address: UInt8) -> I2CAddress {
    guard let address = I2CAddress(address) else { preconditionFailure("a SafeStateWrite's address is valid") }
    return address
  }
}
