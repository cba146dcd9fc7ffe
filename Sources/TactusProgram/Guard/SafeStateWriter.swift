import Buses
import BusesLinux

/// Opens the devices of a list of safe-state writes and makes the writes.
final class SafeStateWriter {
  private enum Device {
    case i2c(LinuxI2CBus)
    case serial(LinuxSerialPort)
    case gpio(LinuxGPIOLines)
    case pwm(LinuxPWMShutdown)
    #if Bluetooth
      case radio(GuardRadio)
    #endif
  }

  let writes: [SafeStateWrite]
  private var devices: [String: Device] = [:]

  init(_ writes: [SafeStateWrite]) {
    self.writes = writes
  }

  /// Opens what is not open yet, so that a write later needs no path and no permission. What could not be opened. GPIO lines
  /// that the guard does not inherit are the daemon's as long as it lives, and are left to it, and so is a radio.
  func open() -> [String] { open(takesAll: false) }

  /// The daemon is back: what only one of both can have is its own again.
  func release() {
    for write in writes {
      if case .pump = write { devices[write.device] = nil }
    }
  }

  private func open(takesAll: Bool) -> [String] {
    var failures: [String] = []
    for write in writes where devices[write.device] == nil {
      switch write {
      case .gpio(_, _, nil), .pump: if !takesAll { continue }
      case .gpio, .i2cByte, .i2cBlock, .serial, .pwm: break
      }
      do {
        devices[write.device] = try Self.device(of: write)
      } catch {
        failures.append("\(error)")
      }
    }
    return failures
  }

  /// Makes every write, also when an earlier one fails. What failed; empty: the safe state is confirmed, which for a
  /// serial line means that the kernel has taken all bytes, for GPIO lines and PWM that they were read back, by Bluetooth that the
  /// pump has said it.
  ///
  /// Blocks at most 30 ms for each I2C write. A device that failed is opened anew the next time; lines once held are held
  /// until the guard ends.
  func write() -> [String] {
    var failures = open(takesAll: true)
    for write in writes {
      guard let device = devices[write.device] else { continue }
      if let failure = Self.perform(write, on: device) {
        failures.append("\(write): \(failure)")
        switch device {
        case .gpio: continue
        #if Bluetooth
          // It is on its way.
          case .radio: continue
        #endif
        case .i2c, .serial, .pwm: break
        }
        devices[write.device] = nil
      }
    }
    return failures
  }

  private static func device(of write: SafeStateWrite) throws -> Device {
    switch write {
    case .i2cByte(let path, _, _, _): .i2c(try LinuxI2CBus(path: path, operations: [.writeByte]))
    case .i2cBlock(let path, _, _, _): .i2c(try LinuxI2CBus(path: path, operations: [.writeBlock]))
    // Not exclusive: the daemon has it open.
    case .serial(let path, let baud, _): .serial(try LinuxSerialPort(path: path, baudRate: baud, exclusive: false))
    case .pwm(let path): .pwm(try LinuxPWMShutdown(path: path))
    case .pump(let place): try radio(place)
    case .gpio(let path, let lines, let descriptor): .gpio(try held(lines, of: path, by: descriptor))
    }
  }

  private static func radio(_ place: BluetoothPlace) throws -> Device {
    #if Bluetooth
      .radio(try GuardRadio(place))
    #else
      throw PumpAddress.Failure.noBluetooth
    #endif
  }

  private static func held(
    _ lines: [SafeStateWrite.Line], of path: String, by descriptor: Int32?
  ) throws(GPIORequestError) -> LinuxGPIOLines {
    let named = lines.map { GPIOLine(GPIOLineName(.offset($0.offset, chip: path)), isActiveLow: $0.isActiveLow) }
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
      var block = I2CBytes()
      for byte in bytes { block.append(byte) }
      return transfer(on: owner) { (bus) throws(I2CError) in
        try bus.writeBlock(block, to: checked(address), register: register)
      }
    case (.serial(_, _, let bytes), .serial(let owner)):
      return send(bytes, on: owner)
    case (.gpio, .gpio(let owner)):
      return turnOff(owner)
    case (.pwm, .pwm(let owner)):
      return owner.turnOff()
    #if Bluetooth
      case (.pump, .radio(let radio)):
        return radio.turnOff()
    #endif
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

  private static func turnOff(_ owner: LinuxGPIOLines) -> String? {
    var port = owner.port()
    do throws(GPIOError) {
      try port.turnAllOff()
      let active = try port.read()
      guard active != 0 else { return nil }
      let stuck = owner.offsets.indices.filter { active >> UInt64($0) & 1 != 0 }.map { String(owner.offsets[$0]) }
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

  private static func checked(_ address: UInt8) -> I2CAddress {
    guard let address = I2CAddress(address) else { preconditionFailure("a SafeStateWrite's address is valid") }
    return address
  }
}
