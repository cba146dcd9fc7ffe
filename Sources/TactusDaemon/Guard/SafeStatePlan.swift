import Buses
import BusesLinux
import TactusGuard

/// The safe-state writes of a configuration's actuators. They are those of the driver's own `stop`, recorded before
/// they reach a bus, so that the guard and the control loop cannot disagree.
public enum SafeStatePlan {
  /// Returns the writes of every system; empty if there is no hardware.
  static func writes(for configuration: Configuration) -> [SafeStateWrite] {
    configuration.systems.all.flatMap(\.safeWrites)
  }

  /// Returns the GPIO lines of a configuration whose safe state is inactive; empty if there is no hardware.
  static func lines(of configuration: Configuration) -> [GPIOLine] { configuration.systems.all.flatMap(\.safeLines) }

  /// Returns the writes for lines that the program holds, to be made by a process that requests the lines itself when
  /// the program is gone. Each line has its own write, so that a line which another program has taken by then does not
  /// keep the others from being turned off.
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

  /// Returns the writes that a driver's stop makes to a chip on a bus.
  public static func i2c(
    _ path: String, _ stop: (inout I2CBus) throws(I2CError) -> Void
  ) -> [SafeStateWrite] {
    writes(transfers(of: stop), path: path)
  }

  /// Returns the transfers that a driver's stop requests of its bus.
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
      case .plainWrite: return .i2cPlain(path: path, address: transfer.address.value, bytes: bytes)
      case .plainRead, .readBlock:
        preconditionFailure("a board's stop made a \(transfer.operation), which the guard does not know")
      }
    }
  }
}

/// The transfers in the order in which a driver made them. Used only at the start, because it allocates memory.
private final class CaughtTransfers {
  var transfers: [I2CTransfer] = []
}

private func catchTransfer(_ context: UnsafeMutableRawPointer, _ request: UnsafeMutableRawPointer) -> Int32 {
  Unmanaged<CaughtTransfers>.fromOpaque(context).takeUnretainedValue().transfers
    .append(request.assumingMemoryBound(to: I2CTransfer.self).pointee)
  return 0
}
