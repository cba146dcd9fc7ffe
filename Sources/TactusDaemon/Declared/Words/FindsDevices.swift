import BluetoothBlueZ

/// Adopted by a system that knows devices which `tactus scan` would not find or name without it.
public protocol FindsDevices: DeviceSystem {
  /// Returns what the system finds of a kind on a machine, in place of what the program would find, or `nil` if it has no way of its
  /// own. Blocks for at most 10 s. Of a machine other than the running one only files can be read.
  static func found(_ kind: ScanKind, on machine: Machine) -> ScanReport?
  /// What the devices are that advertise a Bluetooth service, for those that no key takes.
  static var bluetoothPeers: [BluetoothUUID: String] { get }
}

extension FindsDevices {
  /// The system has no way of its own to find a device.
  public static func found(_ kind: ScanKind, on machine: Machine) -> ScanReport? { nil }
  /// The system names no devices.
  public static var bluetoothPeers: [BluetoothUUID: String] { [:] }
}
