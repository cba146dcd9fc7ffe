/// Where `tactus scan` looks.
public enum ScanKind: String, CaseIterable, Sendable {
  /// Bluetooth LE devices that advertise.
  case ble
  /// Chips that answer on the I2C buses.
  case i2c
  /// Serial lines.
  case serial
  /// Sensors that drivers of the kernel read.
  case sensor
  /// Cameras.
  case camera
  /// Services that others announce on the local network.
  case mdns
}
