import Buses
import BusesLinux

/// Asks whether a chip is there, without changing it.
enum I2CProbe {
  /// Whether a chip acknowledges a read of one byte, without a register: the mildest access that a bus has. `nil` if the
  /// adapter cannot be opened, or has no such access.
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
