import BluetoothBlueZ
import Buses

/// A kind of device that `tactus scan` can find for a key of the configuration file.
///
/// ```swift
/// Key("i2c_address", \.address, in: 0x40...0x77, "The chip's I2C address.")
///   .found(by: .i2cChip("PCA9685", at: 0x40...0x7F, bus: "arm.i2c_bus"))
/// ```
public enum Findable: Equatable, Sendable {
  /// A serial line. The key gets the path of its device.
  case serialLine
  /// A chip on an I2C bus. The key gets its 7-bit address, and the key `bus` the number of the bus.
  ///
  /// - Parameters:
  ///   - name: the usual name of the chip.
  ///   - at: the addresses that the chip can have.
  ///   - bus: the whole path of the bus's key, where an item of a list is `[]`: `plants.i2c_bus`, `kettles[].i2c_bus`.
  case i2cChip(_ name: String, at: ClosedRange<UInt8>, bus: String)
  /// A Bluetooth LE device that advertises a service. The key gets `prefix` and the device's address.
  case bluetooth(service: BluetoothUUID, what: String, prefix: String)
  /// A sensor of the kernel. The key gets its name: `hwmon:lm75/temp1`.
  case kernelSensor
  /// A sensor of the kernel with three axes. The key gets its name without the axis: `iio:mpu6050/accel`.
  case kernelAxes(KernelQuantity)
  /// A camera. The key gets its device.
  case camera
  /// An announced service of the local network. The key gets its address, and the key `port` its TCP port unless that is `standard`.
  case announced(type: String, port: String, standard: UInt16)
}

extension Key {
  /// Returns the same key, marked as one that `tactus scan` can fill.
  public func found(by finds: Findable...) -> Key {
    var key = self
    key.finds = finds
    return key
  }
}

extension ConfigKey {
  /// Returns the same key, marked as one that `tactus scan` can fill.
  func found(by finds: Findable...) -> ConfigKey {
    var key = self
    key.finds = finds
    return key
  }
}
