#if Bluetooth
  import SystemBus

  /// BlueZ's objects as they were last told: paths, their interfaces, and those's properties.
  struct BlueZTree {
    static let adapter = "org.bluez.Adapter1"
    static let device = "org.bluez.Device1"
    static let service = "org.bluez.GattService1"
    static let characteristic = "org.bluez.GattCharacteristic1"

    private var objects: [String: [String: [String: BusValue]]] = [:]

    subscript(path: String, interface: String, property: String) -> BusValue? { objects[path]?[interface]?[property] }

    /// A device's address, or its path where BlueZ tells none.
    func address(of device: String) -> String { self[device, Self.device, "Address"]?.text ?? device }

    /// It is `nil` if it was not told since `doubtConnection`, or if there is no such device.
    func isConnected(_ device: String) -> Bool? { self[device, Self.device, "Connected"]?.bool }

    /// There is no such device, or it is told to be not connected.
    func hasGone(_ device: String) -> Bool { !has(device, Self.device) || isConnected(device) == false }

    /// Something else than the property has shown that the device is connected. bluetoothd tells properties later than it
    /// answers calls and makes them: a `false` of before says nothing any more, the next one does.
    mutating func doubtConnection(of device: String) {
      if isConnected(device) == false { objects[device]?[Self.device]?["Connected"] = nil }
    }

    func has(_ path: String, _ interface: String) -> Bool { objects[path]?[interface] != nil }

    /// In the order of their paths.
    func paths(with interface: String, below path: String = "/") -> [String] {
      let prefix = path == "/" ? path : path + "/"
      return objects.filter { $0.value[interface] != nil && $0.key.hasPrefix(prefix) }.keys.sorted()
    }

    /// The reply of GetManagedObjects.
    init(_ reply: BusValue? = nil) {
      for (path, interfaces) in reply?.properties ?? [:] { add(path, interfaces) }
    }

    /// InterfacesAdded
    mutating func add(_ path: String, _ interfaces: BusValue) {
      for (interface, properties) in interfaces.properties ?? [:] {
        objects[path, default: [:]][interface] = properties.properties ?? [:]
      }
    }

    /// InterfacesRemoved
    mutating func remove(_ path: String, _ interfaces: [String]) {
      for interface in interfaces { objects[path]?[interface] = nil }
      if objects[path]?.isEmpty ?? false { objects[path] = nil }
    }

    /// PropertiesChanged
    mutating func change(_ path: String, _ interface: String, _ changed: [String: BusValue], invalidated: [String]) {
      guard objects[path]?[interface] != nil else { return }
      objects[path]?[interface]?.merge(changed) { $1 }
      for property in invalidated { objects[path]?[interface]?[property] = nil }
    }
  }
#endif
