import Buses
import BusesLinux
import Devices
import TactusDaemon
import TactusGuard

extension Configuration.Motors {
  var safeWrites: [SafeStateWrite] {
    let path = "/dev/i2c-\(i2cBus)"
    switch backend {
    case .sim:
      return []
    case .ybPcbCar:
      let board = ybPcbCar
      return SafeStatePlan.i2c(path) { (bus) throws(I2CError) in try board.stop(on: &bus) }
    case .raspbotV2:
      let board = raspbotV2
      return SafeStatePlan.i2c(path) { (bus) throws(I2CError) in try board.stop(on: &bus) }
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
      return [.serial(path: serialDevice, baud: 115200, bytes: stop + stop)]
    }
  }
}
