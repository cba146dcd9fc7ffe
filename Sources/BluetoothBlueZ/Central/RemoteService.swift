#if Bluetooth
  /// A remote service as BlueZ reports it: the paths of the characteristics for writing and for notifications.
  struct RemoteService {
    let written: String
    let notifies: String
    /// Whether the characteristic is written without response.
    let takesCommands: Bool

    struct Unfit: Error { let failure: BluetoothCentralFailure }

    /// Finds the characteristics of a device. Throws an error that names what is missing.
    init(_ profile: BluetoothProfile, of device: String, in tree: BlueZTree) throws(Unfit) {
      func path(_ wanted: BluetoothUUID, _ interface: String, below parent: String) -> String? {
        tree.paths(with: interface, below: parent).first { tree[$0, interface, "UUID"]?.text == wanted.text }
      }
      func flags(_ path: String) -> [String] { tree[path, BlueZTree.characteristic, "Flags"]?.texts ?? [] }
      guard let service = path(profile.service, BlueZTree.service, below: device) else {
        throw Unfit(failure: .noService(profile.service))
      }
      guard let written = path(profile.toPeripheral, BlueZTree.characteristic, below: service) else {
        throw Unfit(failure: .noCharacteristic(profile.toPeripheral))
      }
      guard let notifies = path(profile.toCentral, BlueZTree.characteristic, below: service) else {
        throw Unfit(failure: .noCharacteristic(profile.toCentral))
      }
      takesCommands = flags(written).contains("write-without-response")
      guard takesCommands || flags(written).contains("write") else {
        throw Unfit(failure: .notWritable(profile.toPeripheral))
      }
      guard flags(notifies).contains("notify") || flags(notifies).contains("indicate") else {
        throw Unfit(failure: .notNotifying(profile.toCentral))
      }
      self.written = written
      self.notifies = notifies
    }
  }

  extension BlueZTree {
    /// Returns the path of the device that is searched for, or `nil` if it was not found. Only devices that were received in this
    /// scan have a signal strength.
    func find(_ peer: BluetoothPeer, offering service: BluetoothUUID, on adapter: String) -> String? {
      paths(with: Self.device, below: adapter).first { path in
        guard self[path, Self.device, "RSSI"] != nil || self[path, Self.device, "Connected"]?.bool ?? false else {
          return false
        }
        if let address = peer.address {
          return self[path, Self.device, "Address"]?.text?.uppercased() == address.uppercased()
        }
        if let name = peer.name { return ["Name", "Alias"].contains { self[path, Self.device, $0]?.text == name } }
        return self[path, Self.device, "UUIDs"]?.texts?.contains(service.text) ?? false
      }
    }
  }
#endif
