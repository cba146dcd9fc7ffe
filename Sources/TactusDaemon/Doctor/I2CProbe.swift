import Buses
import BusesLinux

/// Finds out whether an I2C chip is present, without changing its state.
enum I2CProbe {
  /// Returns whether a chip acknowledges a read of one byte without a register, which is the access with the least
  /// effect. Returns `nil` if the adapter cannot be opened or does not support this access.
  @Sendable static func answers(path: String, address: UInt8) -> Bool? {
    guard let address = I2CAddress(address),
      let bus = try? LinuxI2CBus(path: path, operations: [.plainRead])
    else { return nil }
    var port = bus.port()
    do throws(I2CError) {
      _ = try port.plainRead(1, from: address)
      return true
    } catch {
      if case .noAcknowledge = error { return false }
      return nil
    }
  }
}
