/// A Bluetooth device as it is written after `ble:`: `HMSoft`, `AA:BB:CC:DD:EE:FF`, `HMSoft@hci1`.
public struct BluetoothPlace: Equatable, Sendable {
  /// The device to be found, by its name or its address.
  enum Peer: Equatable, Sendable {
    case name(String)
    /// The device's address in upper case: `AA:BB:CC:DD:EE:FF`.
    case address(String)
  }

  var peer: Peer
  /// The Bluetooth adapter, or `nil` for the first one available.
  public var adapter: String?

  init(_ peer: Peer, adapter: String? = nil) {
    self.peer = peer
    self.adapter = adapter
  }

  /// Reads a device as written. Returns `nil` if the text names no device.
  public init?(_ text: Substring) {
    var name = text
    var adapter: String?
    if let found = text.firstMatch(of: /@(hci[0-9]+)$/) {
      name = text[..<found.range.lowerBound]
      adapter = String(found.1)
    }
    guard !name.isEmpty else { return nil }
    let isAddress = name.wholeMatch(of: /[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}/) != nil
    self.init(isAddress ? .address(name.uppercased()) : .name(String(name)), adapter: adapter)
  }
}

extension BluetoothPlace: CustomStringConvertible {
  /// The device as written, without `ble:`.
  public var description: String {
    let name =
      switch peer {
      case .name(let name): name
      case .address(let address): address
      }
    return adapter.map { "\(name)@\($0)" } ?? name
  }
}

#if Bluetooth
  import BluetoothBlueZ

  extension BluetoothPlace {
    /// The description by which a central looks for the device.
    public var wanted: BluetoothPeer {
      switch peer {
      case .name(let name): BluetoothPeer(name: name)
      case .address(let address): BluetoothPeer(address: address)
      }
    }
  }

  extension BluetoothCentralState {
    /// The trouble with the connection in words, or `nil` if the connection works.
    public var trouble: String? {
      switch self {
      case .idle(nil), .connected, .stopped: nil
      case .idle, .scanning, .connecting: "\(self)"
      }
    }
  }
#endif
