#if Bluetooth
  import SystemBus

  /// The objects that a peripheral offers to bluetoothd: a service, its one or two characteristics, and an advertisement.
  struct PeripheralObjects {
    static let root = "/tactus"
    static let service = "/tactus/service0"
    static let advertisement = "/tactus/advertisement0"
    static let advertisementInterface = "org.bluez.LEAdvertisement1"
    /// The paths of the characteristics for writing and for notifications.
    let written = "/tactus/service0/char0"
    let notified: String
    private let objects: [String: [String: [String: BusValue]]]
    private let advertisement: [String: BusValue]

    init(_ profile: BluetoothProfile, name: String) {
      let isOne = profile.toPeripheral == profile.toCentral
      notified = isOne ? written : "/tactus/service0/char1"
      var objects = [
        Self.service: [
          BlueZTree.service: ["UUID": BusValue.text(profile.service.text), "Primary": .bool(true)]
        ]
      ]
      func add(_ path: String, _ uuid: BluetoothUUID, _ flags: [String]) {
        var properties: [String: BusValue] = [
          "UUID": .text(uuid.text), "Service": .path(Self.service), "Flags": .texts(flags),
        ]
        // The presence of this property tells bluetoothd that it may ask for a socket.
        if flags.contains("notify") { properties["NotifyAcquired"] = .bool(false) }
        objects[path] = [BlueZTree.characteristic: properties]
      }
      // Writes come as calls, not through a socket (AcquireWrite): a call says who writes, and can be refused.
      let writes = ["write", "write-without-response"]
      add(written, profile.toPeripheral, isOne ? writes + ["notify"] : writes)
      if !isOne { add(notified, profile.toCentral, ["notify"]) }
      self.objects = objects
      advertisement = [
        "Type": .text("peripheral"), "ServiceUUIDs": .texts([profile.service.text]), "LocalName": .text(name),
        "Discoverable": .bool(true),
      ]
    }

    /// The reply to GetManagedObjects, of type `a{oa{sa{sv}}}`.
    var managed: BusValue {
      .dictionary(
        Dictionary(
          uniqueKeysWithValues: objects.map { path, interfaces in
            let inner = interfaces.map { (BusValue.text($0), BusValue.properties($1)) }
            return (.path(path), .dictionary(Dictionary(uniqueKeysWithValues: inner)))
          }))
    }

    /// Returns the properties of an object's interface, or `nil` if the object does not have this interface.
    func properties(_ path: String, _ interface: String) -> [String: BusValue]? {
      if path == Self.advertisement { return interface == Self.advertisementInterface ? advertisement : nil }
      return objects[path]?[interface]
    }
  }
#endif
