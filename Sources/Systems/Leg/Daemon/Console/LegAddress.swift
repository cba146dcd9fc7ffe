@_spi(FromOutside) import Conversions
import Service
import TactusDaemon

/// The address of a leg as written by people.
enum LegAddress: Equatable {
  /// A UDP address: `pi.local`, `192.168.1.7:5010`, `[::1]:5010`.
  case datagrams(host: String, port: UInt16)
  /// A serial device: `serial:/dev/ttyACM0`, `serial:/dev/ttyACM0@57600`.
  case serial(path: String, baudRate: Int)
  /// A Bluetooth device: `ble:LegCtrl`, `ble:AA:BB:CC:DD:EE:FF`, `ble:LegCtrl@hci1`.
  case bluetooth(BluetoothPlace)
  /// A WebSocket of a daemon: `ws://pi.local:8000/ws`, `wss://pi.local`.
  case door(ServiceAddress, leg: Int)
}

extension LegAddress {
  enum Failure: Error, Equatable, CustomStringConvertible {
    case noAddress(String)
    case badPort(Int)
    case indexNotSupported(String)
    case noBluetooth

    var description: String {
      switch self {
      case .noAddress(let text):
        "expected HOST, HOST:PORT, ble:NAME or ble:ADDRESS[@hciN], serial:/dev/…[@baud], ws://HOST[:PORT][/ws] or wss://…, got \(text)"
      case .badPort(let port): "expected a port 1…65535, got \(port)"
      case .indexNotSupported(let link): "\(link) reaches one leg: leave out --index"
      case .noBluetooth: "this program was built without Bluetooth"
      }
    }
  }

  /// Parses the address of a leg as the user wrote it.
  ///
  /// - Parameters:
  ///   - port: the UDP port of leg 0 if the address names no port.
  ///   - index: the index of the leg; each leg listens one UDP port further than the one before.
  init(_ text: String, port: UInt16, index: Int) throws(Failure) {
    if text.hasPrefix("serial:") {
      guard index == 0 else { throw .indexNotSupported(text) }
      self = try Self.serialLine(text.dropFirst(7), whole: text)
    } else if text.hasPrefix("ws://") || text.hasPrefix("wss://") {
      self = try Self.door(text, leg: index)
    } else if text.hasPrefix("ble:") {
      guard index == 0 else { throw .indexNotSupported(text) }
      self = try Self.bluetooth(text.dropFirst(4), whole: text)
    } else {
      guard !text.contains("/"), let address = ServiceAddress(text, port: Int(port)) else { throw .noAddress(text) }
      guard let port = UInt16(exactly: address.port + index) else { throw .badPort(address.port + index) }
      self = .datagrams(host: address.host, port: port)
    }
  }

  private static func serialLine(_ rest: Substring, whole: String) throws(Failure) -> LegAddress {
    let parts = rest.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
    let rate = parts.count == 2 ? Int(parts[1]) : 115_200
    guard let rate, rate > 0, parts[0].hasPrefix("/") else { throw .noAddress(whole) }
    return .serial(path: String(parts[0]), baudRate: rate)
  }

  private static func bluetooth(_ rest: Substring, whole: String) throws(Failure) -> LegAddress {
    #if Bluetooth
      guard let place = BluetoothPlace(rest) else { throw .noAddress(whole) }
      return .bluetooth(place)
    #else
      throw .noBluetooth
    #endif
  }

  private static func door(_ text: String, leg: Int) throws(Failure) -> LegAddress {
    var rest = text.replacing(/^ws/, with: "http", maxReplacements: 1)
    if rest.hasSuffix("/ws") { rest.removeLast(3) }
    guard let address = ServiceAddress(rest, port: 8000) else { throw .noAddress(text) }
    return .door(address, leg: leg)
  }
}
