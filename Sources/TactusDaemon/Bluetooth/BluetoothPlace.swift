/// A device by Bluetooth, as people write it behind `ble:`: `HMSoft`, `AA:BB:CC:DD:EE:FF`, `HMSoft@hci1`.
public struct BluetoothPlace: Equatable, Sendable {
  /// The device to look for.
  enum Peer: Equatable, Sendable {
    case name(String)
    /// `AA:BB:CC:DD:EE:FF`
    case address(String)
  }

  var peer: Peer
  /// The adapter; `nil` for the first that there is.
  public var adapter: String?

  init(_ peer: Peer, adapter: String? = nil) {
    self.peer = peer
    self.adapter = adapter
  }

  /// Reads a place, or `nil` if the text names no device.
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
  /// As it was written, without `ble:`.
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
    /// As a central looks for it.
    public var wanted: BluetoothPeer {
      switch peer {
      case .name(let name): BluetoothPeer(name: name)
      case .address(let address): BluetoothPeer(address: address)
      }
    }
  }

  extension BluetoothCentralState {
    /// What is wrong with the connection, for people; `nil` while nothing is.
    public var trouble: String? {
      switch self {
      case .idle(nil), .connected, .stopped: nil
      case .idle, .scanning, .connecting: "\(self)"
      }
    }
  }
#endif
