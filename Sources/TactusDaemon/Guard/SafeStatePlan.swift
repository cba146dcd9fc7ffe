import Buses
import BusesLinux
import TactusGuard

/// The safe-state writes of a configuration's actuators: what the driver's own `stop` writes, caught before it reaches a
/// bus. So the guard and the control loop cannot disagree.
public enum SafeStatePlan {
  /// Of every system; empty when there is no hardware.
  static func writes(for configuration: Configuration) -> [SafeStateWrite] {
    configuration.systems.all.flatMap(\.safeWrites)
  }

  /// The lines of a configuration whose safe state is inactive; empty when there is no hardware.
  static func lines(of configuration: Configuration) -> [GPIOLine] { configuration.systems.all.flatMap(\.safeLines) }

  /// The writes for lines that the program holds, by a process that requests them itself when the program is gone. Each by itself: one that
  /// another program has taken by then keeps no other from being turned off.
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

  /// What a driver's stop writes to a chip on a bus.
  public static func i2c(
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
