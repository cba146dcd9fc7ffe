import TactusDaemon

/// The address of a pump as a user writes it.
enum PumpAddress: Equatable {
  /// A serial line, for example `/dev/ttyUSB0`.
  case serial(path: String)
  /// A serial Bluetooth module such as the HM-10, for example `ble:HMSoft`, `ble:AA:BB:CC:DD:EE:FF` or `ble:HMSoft@hci1`.
  case bluetooth(BluetoothPlace)

  enum Failure: Error, Equatable, CustomStringConvertible {
    case noAddress(String)
    case noBluetooth

    var description: String {
      switch self {
      case .noAddress(let text): "expected /dev/… of a serial line, ble:NAME or ble:ADDRESS[@hciN], got \(text)"
      case .noBluetooth: "this program was built without Bluetooth"
      }
    }
  }

  init(_ text: String) throws(Failure) {
    if text.hasPrefix("ble:") {
      #if Bluetooth
        guard let place = BluetoothPlace(text.dropFirst(4)) else { throw .noAddress(text) }
        self = .bluetooth(place)
      #else
        throw .noBluetooth
      #endif
    } else {
      guard text.hasPrefix("/") else { throw .noAddress(text) }
      self = .serial(path: text)
    }
  }
}

extension PumpAddress: CustomStringConvertible {
  /// The address in the form in which it was written.
  var description: String {
    switch self {
    case .serial(let path): path
    case .bluetooth(let place): "ble:\(place)"
    }
  }
}
