/// The reason why no adapter can be used. Each of these may change, after which waiting code continues.
public enum BluetoothAbsence: Error, Sendable, Hashable, CustomStringConvertible {
  /// The D-Bus system bus cannot be reached.
  case noBus(reason: String)
  /// The name `org.bluez` has no owner on the bus.
  case noBluetoothd
  /// bluetoothd is running and does not report its objects.
  case noAnswer(reason: String)
  /// The requested adapter does not exist. `wanted` is `nil` if the machine has no adapter at all.
  case noAdapter(wanted: String?)
  /// The adapter is switched off and cannot be switched on, because of rfkill for example.
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
