#if Bluetooth
  import Foundation
  import SystemBus

  extension MockBlueZ {
    package func answer(_ call: borrowing BusMessage) -> Bool {
      guard let path = call.path, let member = call.member, let interface = call.interface else { return false }
      let sender = call.sender ?? ""
      if !interface.hasPrefix("org.freedesktop.DBus.O") { log.append("\(path) \(member)") }
      if silent.contains(member) { return true }
      if let message = refusal[member] {
        bus.refuse(call, .init(name: "org.bluez.Error.Failed", message: message))
        return true
      }
      switch (interface, member) {
      case (_, "GetManagedObjects"):
        try? bus.reply(to: call) { (reply) throws(SystemBus.Failure) in try reply.append(managed, as: "a{oa{sa{sv}}}") }
      case (_, "Set"):
        guard let interface = call.text(), let name = call.text(), let value = call.value() else { return false }
        set(path, interface, name, value)
        try? bus.reply(to: call)
      case (_, "RegisterApplication"):
        guard let root = call.value()?.text else { return false }
        if applications[path] != nil { return exists(call) }
        forward(call, to: sender, root, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects") { mock, reply in
          mock.applications[path] = Application(owner: sender, objects: reply.value() ?? .list([]))
        }
      case (_, "RegisterAdvertisement"):
        guard let object = call.value()?.text else { return false }
        if advertisements[path] != nil { return exists(call) }
        forward(
          call, to: sender, object, "org.freedesktop.DBus.Properties", "GetAll",
          arguments: { (message) throws(SystemBus.Failure) in try message.append("org.bluez.LEAdvertisement1") },
          then: { mock, reply in
            mock.advertisements[path] = (sender, object, reply.value()?.properties ?? [:])
            mock.hear()
          })
      case (_, "UnregisterApplication"):
        applications[path] = nil
        try? bus.reply(to: call)
      case (_, "UnregisterAdvertisement"):
        advertisements[path] = nil
        try? bus.reply(to: call)
      case (_, "SetDiscoveryFilter"): try? bus.reply(to: call)
      case (_, "StartDiscovery"):
        discovering.insert(path)
        try? bus.reply(to: call)
        hear()
      case (_, "StopDiscovery"):
        discovering.remove(path)
        try? bus.reply(to: call)
      case (Self.device, "Connect"):
        if answersBeforeItTells { try? bus.reply(to: call) }
        connect(path)
        if !answersBeforeItTells { try? bus.reply(to: call) }
      case (Self.device, "Disconnect"):
        disconnect(path)
        try? bus.reply(to: call)
      case (Self.adapter, "RemoveDevice"):
        guard let device = call.value()?.text else { return false }
        disconnect(device)
        drop(device)
        try? bus.reply(to: call)
      case (Self.characteristic, _): return characteristic(call, path, member)
      default: return false
      }
      return true
    }

    private func exists(_ call: borrowing BusMessage) -> Bool {
      bus.refuse(call, .init(name: "org.bluez.Error.AlreadyExists", message: "Already Exists"))
      return true
    }

    /// Calls somebody, and answers `call` with nothing when that has been answered.
    private func forward(
      _ call: borrowing BusMessage, to destination: String, _ path: String, _ interface: String, _ method: String,
      arguments: (borrowing BusMessage) throws(SystemBus.Failure) -> Void = { (_) throws(SystemBus.Failure) in },
      then: @escaping (MockBlueZ, borrowing BusMessage) -> Void
    ) {
      let waiting = Waiting(call.retained())
      try? bus.request(destination, path, interface, method, arguments: arguments) { [unowned self] reply, failure in
        if let failure { return bus.refuse(waiting.call, failure) }
        then(self, reply)
        try? bus.reply(to: waiting.call)
      }
    }

    package final class Waiting {
      package let call: BusMessage
      package init(_ call: consuming BusMessage) { self.call = call }
    }

    // MARK: the air

    package static func path(_ adapter: String, _ address: String) -> String {
      "\(adapter)/dev_\(address.replacingOccurrences(of: ":", with: "_"))"
    }

    package func address(_ adapter: String) -> String { objects[adapter]?[Self.adapter]?["Address"]?.text ?? "?" }

    /// Every radio that scans hears what the others advertise.
    package func hear() {
      for (other, advertisement) in advertisements {
        for adapter in discovering where adapter != other {
          let path = Self.path(adapter, address(other))
          remotes[path] = .adapter(other)
          put(
            path,
            [
              Self.device: [
                "Address": .text(address(other)), "RSSI": .int16(-40), "Connected": .bool(false),
                "ServicesResolved": .bool(false), "Alias": advertisement.properties["LocalName"] ?? .text("?"),
                "UUIDs": advertisement.properties["ServiceUUIDs"] ?? .texts([]),
              ]
            ])
        }
      }
    }

    /// A device of the test's own making, on `adapter`.
    package func add(_ made: MadeDevice, on adapter: String) {
      let path = Self.path(adapter, made.address)
      remotes[path] = .made(made)
      put(
        path,
        [
          Self.device: [
            "Address": .text(made.address), "RSSI": .int16(-50), "Connected": .bool(false),
            "ServicesResolved": .bool(false), "Alias": .text(made.name), "UUIDs": .texts(made.advertised),
          ]
        ])
    }

    /// The central's view of the device gets its services; the peripheral's radio sees a device.
    package func connect(_ path: String) {
      set(path, Self.device, "Connected", .bool(true))
      switch remotes[path] {
      case .adapter(let other):
        arrive(path.components(separatedBy: "/dev_")[0], at: other)
        for (object, interfaces) in applications[other]?.objects.properties ?? [:] {
          let below = path + object.dropFirst("/tactus".count)
          objects[below] = (interfaces.properties ?? [:]).mapValues { $0.properties ?? [:] }
          put(below, objects[below]!)
        }
      case .made(let made):
        for (below, interfaces) in made.objects { put(path + below, interfaces) }
      case nil: break
      }
      set(path, Self.device, "ServicesResolved", .bool(true))
    }

    /// A central that is connected to `adapter`, from the radio `from`.
    @discardableResult
    package func arrive(_ from: String, at adapter: String) -> String {
      let path = Self.path(adapter, address(from))
      let isKnown = objects[path] != nil
      if isKnown {
        set(path, Self.device, "Connected", .bool(true))
      } else {
        put(path, [Self.device: ["Address": .text(address(from)), "Connected": .bool(true)]])
      }
      return path
    }

    /// The connection ends, seen from either side.
    package func disconnect(_ path: String) {
      closeSockets(of: path)
      for below in objects.keys.filter({ $0.hasPrefix(path + "/") }).sorted() { drop(below) }
      set(path, Self.device, "ServicesResolved", .bool(false))
      set(path, Self.device, "Connected", .bool(false))
      let parts = path.components(separatedBy: "/dev_")
      let remote = parts[1].replacingOccurrences(of: "_", with: ":")
      for adapter in objects.keys where objects[adapter]?[Self.adapter] != nil && address(adapter) == remote {
        let other = Self.path(adapter, address(parts[0]))
        guard objects[other]?[Self.device]?["Connected"]?.bool ?? false else { continue }
        closeSockets(of: other)
        set(other, Self.device, "Connected", .bool(false))
      }
    }
  }
#endif
