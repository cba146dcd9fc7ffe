#if Bluetooth
  import SystemBus
  import Tactus

  /// A scan for devices that advertise, through BlueZ, which connects to none of them.
  ///
  /// Source: BlueZ's org.bluez.Adapter(5) and org.bluez.Device(5).
  public enum BluetoothScan {
    /// A device that has advertised, or is connected.
    public struct Device: Equatable, Sendable {
      /// The address in upper case: `AA:BB:CC:DD:EE:FF`.
      public var address: String
      /// The name that the device advertises, which is not verified, or `nil` if the device advertises none.
      public var name: String?
      /// The strength of the reception in dBm, or `nil` if the device has not been heard.
      public var strengthDecibels: Int?
      /// The services that the device advertises, or whose data it advertises, at most 32 of them.
      public var services: [BluetoothUUID]
      /// Whether the device is connected to this machine.
      public var isConnected: Bool
    }

    /// Blocks for `patience` and at most 15 s more, and returns the devices that were heard in that time or are connected, the
    /// strongest first and at most 200 of them.
    ///
    /// - Parameter address: the address of the D-Bus, or `nil` for the system bus.
    public static func devices(
      on address: String? = nil, patience: Nanoseconds
    ) throws(BluetoothAbsence) -> [Device] {
      let bus: SystemBus
      do throws(SystemBus.Failure) { bus = try SystemBus(address: address) } catch {
        throw .noBus(reason: error.message)
      }
      let adapter = try adapter(try tree(bus), on: bus)
      try discover(adapter, on: bus, patience: patience)
      let tree = try tree(bus)
      _ = try? bus.call(BlueZClient.name, adapter, BlueZTree.adapter, "StopDiscovery")
      let found = tree.paths(with: BlueZTree.device, below: adapter).compactMap { device($0, tree) }
      return Array(
        found.sorted { ($0.strengthDecibels ?? .min, $1.address) > ($1.strengthDecibels ?? .min, $0.address) }
          .prefix(200))
    }

    private static func tree(_ bus: SystemBus) throws(BluetoothAbsence) -> BlueZTree {
      do throws(SystemBus.Failure) {
        let reply = try bus.call(
          BlueZClient.name, "/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects",
          patienceMicroseconds: 5_000_000)
        return BlueZTree(reply.value())
      } catch {
        switch error.name {
        case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner":
          throw .noBluetoothd
        default: throw .noAnswer(reason: error.message)
        }
      }
    }

    /// Returns the first adapter, and switches it on if it is off.
    private static func adapter(_ tree: BlueZTree, on bus: SystemBus) throws(BluetoothAbsence) -> String {
      let adapters = tree.paths(with: BlueZTree.adapter)
      func isOn(_ path: String) -> Bool { tree[path, BlueZTree.adapter, "Powered"]?.bool ?? false }
      if let adapter = adapters.first(where: isOn) { return adapter }
      guard let adapter = adapters.first else { throw .noAdapter(wanted: nil) }
      do throws(SystemBus.Failure) {
        _ = try bus.call(
          BlueZClient.name, adapter, BlueZClient.properties, "Set", patienceMicroseconds: 5_000_000,
          arguments: { (message) throws(SystemBus.Failure) in
            try message.append(BlueZTree.adapter)
            try message.append("Powered")
            try message.append(.bool(true), as: "v")
          })
        return adapter
      } catch {
        throw .notPowered(adapter: BlueZClient.short(adapter), reason: error.message)
      }
    }

    private static func discover(
      _ adapter: String, on bus: SystemBus, patience: Nanoseconds
    ) throws(BluetoothAbsence) {
      do throws(SystemBus.Failure) {
        _ = try bus.call(
          BlueZClient.name, adapter, BlueZTree.adapter, "SetDiscoveryFilter",
          arguments: { (message) throws(SystemBus.Failure) in
            try message.append(.properties(["Transport": .text("le")]), as: "a{sv}")
          })
        _ = try bus.call(BlueZClient.name, adapter, BlueZTree.adapter, "StartDiscovery")
      } catch {
        throw .noAnswer(reason: error.message)
      }
      let end = MonotonicClock.now + patience
      while MonotonicClock.now < end, bus.process() {
        let left = max(0, (end - MonotonicClock.now).count) / 1000 + 1
        bus.wait(microseconds: UInt64(clamping: left))
      }
    }

    private static func device(_ path: String, _ tree: BlueZTree) -> Device? {
      let isConnected = tree.isConnected(path) ?? false
      // BlueZ keeps devices of earlier scans, without a strength.
      let strength = tree[path, BlueZTree.device, "RSSI"]?.integer
      guard strength != nil || isConnected else { return nil }
      let address = tree.address(of: path).uppercased()
      // A device without a name has its address, with dashes, as its alias.
      let alias = tree[path, BlueZTree.device, "Alias"]?.text
      let hasName = alias.map { $0.uppercased() != String(address.map { $0 == ":" ? "-" : $0 }) } ?? false
      let services = tree[path, BlueZTree.device, "UUIDs"]?.texts ?? []
      // Many thermometers advertise the data of a service which they do not list.
      let data = (tree[path, BlueZTree.device, "ServiceData"]?.properties ?? [:]).keys.sorted()
      return Device(
        address: address, name: hasName ? alias : nil,
        strengthDecibels: strength,
        services: (services + data.filter { !services.contains($0) }).prefix(32).compactMap { BluetoothUUID($0) },
        isConnected: isConnected)
    }
  }
#endif
