import Buses
import BusesLinux
import Devices
import TactusGuard

/// The safe-state writes of a configuration's actuators: what the driver's own `stop` writes, caught before it reaches a
/// bus. So the guard and the control loop cannot disagree.
enum SafeStatePlan {
  /// Of every system; empty when there is no hardware.
  static func writes(for configuration: Configuration) -> [SafeStateWrite] {
    (configuration.motors.map(writes) ?? []) + (configuration.legs.map(writes) ?? [])
      + (configuration.pump.map(writes) ?? []) + configuration.declared.all.flatMap(\.plan.safeWrites)
  }

  /// Every channel of the chip off by one byte. Not the sleep that an orderly end has besides: it could cut a pulse.
  static func writes(for legs: Configuration.Legs) -> [SafeStateWrite] {
    guard legs.backend != .sim else { return [] }
    let chip = legs.chip
    return i2c("/dev/i2c-\(legs.i2cBus)") { (bus) throws(I2CError) in try chip.turnAllOff(on: &bus) }
  }

  /// OFF twice, because a serial line does not say whether a line arrived whole; the first line end closes what the daemon
  /// may have left open. Of a pump of this machine its motor.
  static func writes(for pump: Configuration.Pump) -> [SafeStateWrite] {
    guard pump.backend == .hardware else { return [] }
    switch pump.role {
    case .device: return [.pwm(path: pump.own.pwmPath)]
    case .operator:
      switch pump.address {
      case .serial(let path): return [.serial(path: path, baud: pump.baud, bytes: Array("\nOFF\nOFF\n".utf8))]
      case .bluetooth(let place): return [.custom(name: GuardRadio.name, text: "\(place)")]
      }
    }
  }

  /// Empty when there is no hardware.
  static func writes(for motors: Configuration.Motors) -> [SafeStateWrite] {
    let path = "/dev/i2c-\(motors.i2cBus)"
    switch motors.backend {
    case .sim:
      return []
    case .ybPcbCar:
      let board = motors.ybPcbCar
      return i2c(path) { (bus) throws(I2CError) in try board.stop(on: &bus) }
    case .raspbotV2:
      let board = motors.raspbotV2
      return i2c(path) { (bus) throws(I2CError) in try board.stop(on: &bus) }
    case .xgoRider:
      let line = SimulatedSerialPort()
      var port = line.port()
      do {
        try XGORider().stop(on: &port)
      } catch {
        preconditionFailure("an empty line takes a stop: \(error)")
      }
      var bytes = [UInt8](repeating: 0, count: 256)
      let count = bytes.withUnsafeMutableBytes { line.device.read(into: $0) }
      let stop = Array(bytes[..<count])
      // Twice, because a serial line does not say whether a frame arrived whole.
      return [.serial(path: motors.serialDevice, baud: 115200, bytes: stop + stop)]
    }
  }

  /// The lines of a configuration whose safe state is inactive; empty when there is no hardware.
  static func lines(of configuration: Configuration) -> [GPIOLine] {
    var lines: [GPIOLine] = []
    if let legs = configuration.legs, legs.backend != .sim, let line = legs.outputEnable {
      lines.append(GPIOLine(line, isActiveLow: true))
    }
    if let sprinkler = configuration.sprinkler, sprinkler.backend != .sim { lines += sprinkler.lines }
    return lines + configuration.declared.all.flatMap(\.plan.safeLines)
  }

  /// The writes for lines that the program holds, by a process that requests them itself when the program is gone. Each by itself: one that
  /// somebody else has taken by then keeps no other from being turned off.
  static func writes(for held: [LinuxGPIOLines]) -> [SafeStateWrite] {
    held.flatMap { held in
      zip(held.offsets, held.lines).map { offset, line in
        write(for: .init(offset: offset, isActiveLow: line.isActiveLow), of: held.chipPath)
      }
    }
  }

  static func write(for line: SafeStateWrite.Line, of chipPath: String) -> SafeStateWrite {
    .gpio(path: chipPath, lines: [line], descriptor: nil)
  }

  private static func i2c(
    _ path: String, _ stop: (inout I2CBus) throws(I2CError) -> Void
  ) -> [SafeStateWrite] {
    writes(transfers(of: stop), path: path)
  }

  /// What a driver's stop asks of its bus.
  static func transfers(of stop: (inout I2CBus) throws(I2CError) -> Void) -> [I2CTransfer] {
    let caught = CaughtTransfers()
    var bus = I2CBus(context: Unmanaged.passUnretained(caught).toOpaque(), attempts: 1, transfer: catchTransfer)
    do throws(I2CError) {
      try stop(&bus)
    } catch {
      preconditionFailure("the catching bus refuses nothing: \(error)")
    }
    return caught.transfers
  }

  static func writes(_ transfers: [I2CTransfer], path: String) -> [SafeStateWrite] {
    transfers.map { transfer in
      let bytes = (0..<transfer.bytes.count).map { transfer.bytes[$0] }
      switch transfer.operation {
      case .writeByte:
        return .i2cByte(
          path: path, address: transfer.address.value, register: transfer.register, byte: bytes[0])
      case .writeBlock:
        return .i2cBlock(path: path, address: transfer.address.value, register: transfer.register, bytes: bytes)
      case .plainWrite, .plainRead, .readBlock:
        preconditionFailure("a board's stop made a \(transfer.operation), which the guard does not know")
      }
    }
  }
}

/// Transfers in the order in which a driver made them. Used at the start only: it allocates.
private final class CaughtTransfers {
  var transfers: [I2CTransfer] = []
}

private func catchTransfer(_ context: UnsafeMutableRawPointer, _ request: UnsafeMutableRawPointer) -> Int32 {
  Unmanaged<CaughtTransfers>.fromOpaque(context).takeUnretainedValue().transfers
    .append(request.assumingMemoryBound(to: I2CTransfer.self).pointee)
  return 0
}
