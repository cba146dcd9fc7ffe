#if Bluetooth
  import SystemBus

  /// A copy of BlueZ's objects as last reported: paths, their interfaces, and the properties of these.
  struct BlueZTree {
    static let adapter = "org.bluez.Adapter1"
    static let device = "org.bluez.Device1"
    static let service = "org.bluez.GattService1"
    static let characteristic = "org.bluez.GattCharacteristic1"

    private var objects: [String: [String: [String: BusValue]]] = [:]

    subscript(path: String, interface: String, property: String) -> BusValue? { objects[path]?[interface]?[property] }

    /// Returns a device's address, or its path if BlueZ reports no address.
    func address(of device: String) -> String { self[device, Self.device, "Address"]?.text ?? device }

    /// Returns whether a device is connected, or `nil` if there is no such device or its state has not been reported since `doubtConnection`.
    func isConnected(_ device: String) -> Bool? { self[device, Self.device, "Connected"]?.bool }

    /// Returns whether the device does not exist or is reported as not connected.
    func hasGone(_ device: String) -> Bool { !has(device, Self.device) || isConnected(device) == false }

    /// Discards a reported `false` of a device that has been shown to be connected by other means. bluetoothd reports properties
    /// later than it answers and makes calls, so an earlier `false` means nothing; the next report is valid.
    mutating func doubtConnection(of device: String) {
      if isConnected(device) == false { objects[device]?[Self.device]?["Connected"] = nil }
    }

    func has(_ path: String, _ interface: String) -> Bool { objects[path]?[interface] != nil }

    /// Returns the paths of all objects with an interface, in the order of the paths.
    func paths(with interface: String, below path: String = "/") -> [String] {
      let prefix = path == "/" ? path : path + "/"
      return objects.filter { $0.value[interface] != nil && $0.key.hasPrefix(prefix) }.keys.sorted()
    }

    /// Creates a copy from the reply of GetManagedObjects.
    init(_ reply: BusValue? = nil) {
      for (path, interfaces) in reply?.properties ?? [:] { add(path, interfaces) }
    }

    /// Adds the interfaces of an InterfacesAdded signal.
    mutating func add(_ path: String, _ interfaces: BusValue) {
      for (interface, properties) in interfaces.properties ?? [:] {
        objects[path, default: [:]][interface] = properties.properties ?? [:]
      }
    }

    /// Removes the interfaces of an InterfacesRemoved signal.
    mutating func remove(_ path: String, _ interfaces: [String]) {
      for interface in interfaces { objects[path]?[interface] = nil }
      if objects[path]?.isEmpty ?? false { objects[path] = nil }
    }

    /// Changes the properties of a PropertiesChanged signal.
    mutating func change(_ path: String, _ interface: String, _ changed: [String: BusValue], invalidated: [String]) {
      guard objects[path]?[interface] != nil else { return }
      objects[path]?[interface]?.merge(changed) { $1 }
      for property in invalidated { objects[path]?[interface]?[property] = nil }
    }
  }
#endif
