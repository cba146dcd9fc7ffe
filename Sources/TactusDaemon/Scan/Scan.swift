import Tactus

/// Looks for the devices that a configuration file can name.
///
/// What a find is for follows from the program's keys, which say by `Key.found(by:)` what fills them. A scan blocks; it
/// belongs on no thread that others wait for.
struct Scan: Sendable {
  var machine: Machine
  /// How long Bluetooth devices and services are listened for, 0 to 60 s each.
  var patience: Nanoseconds
  /// Whether I2C buses are asked that another program has open, or that are the board's own.
  var allBuses = false
  /// The address of the D-Bus, or `nil` for the system bus.
  var busAddress: String?
  /// The keys that can be filled, each with one of the things that fill it.
  var keys: [(key: ConfigKey, by: Findable)] { Self.fillable }

  static let fillable = ConfigTable.keys.flatMap { key in key.finds.map { (key: key, by: $0) } }

  /// Looks in one place.
  func report(_ kind: ScanKind) -> ScanReport {
    switch kind {
    case .ble: bluetooth()
    case .i2c: i2c()
    case .serial: serial()
    case .sensor: sensors()
    case .camera: cameras()
    case .mdns: announced()
    }
  }

  /// Returns the report of the first system that looks in this place itself.
  func ownReport(_ kind: ScanKind) -> ScanReport? {
    DaemonProgram.current.kinds.lazy.compactMap { ($0.declaration as? any FindsDevices.Type)?.found(kind, on: machine) }
      .first
  }
}
