/// Why there is no radio to work with. All of it may change, and what waits goes on when it does.
public enum BluetoothAbsence: Sendable, Hashable, CustomStringConvertible {
  /// The D-Bus system bus cannot be reached.
  case noBus(reason: String)
  /// The name `org.bluez` has no owner on the bus.
  case noBluetoothd
  /// It is running, but does not tell what it has.
  case noAnswer(reason: String)
  /// The adapter that is wanted is not there; `wanted` is `nil` if the machine has no adapter at all.
  case noAdapter(wanted: String?)
  /// Switched off, and it cannot be switched on: by rfkill, for example.
  case notPowered(adapter: String, reason: String)

  public var description: String {
    switch self {
    case .noBus(let reason): "no system bus: \(reason)"
    case .noBluetoothd: "bluetoothd is not running (sudo systemctl start bluetooth)"
    case .noAnswer(let reason): "bluetoothd does not answer: \(reason)"
    case .noAdapter(nil): "no Bluetooth adapter"
    case .noAdapter(let wanted?): "no Bluetooth adapter \(wanted)"
    case .notPowered(let adapter, let reason):
      "\(adapter) is switched off and cannot be switched on: \(reason) (rfkill unblock bluetooth)"
    }
  }
}
