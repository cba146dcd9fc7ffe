#if Bluetooth
  import Buses
  import Glibc
  import SystemBus
  import Tactus

  //            adapter there and on         both taken              a central writes or subscribes
  //   waiting ───────────────────▶ starting ────────▶ advertising ───────────────────▶ connected
  //      ▲                            │ ▲                  ▲                                │
  //      │ bus, bluetoothd, adapter   ▼ │ later            └────────────────────────────────┘
  //      └──────── from everywhere   refused                 its device is no longer connected

  /// The work of the peripheral on its thread.
  final class PeripheralRole: LinkRole {
    /// The state of a registration with bluetoothd.
    private enum Registration {
      case none
      case underway
      case done
      case refused(reason: String, again: TickInstant)
    }
    private struct Central {
      let device: String
      /// Whether BlueZ has reported the device as connected. From then on its absence means that it is not connected.
      var wasSeen = false
    }

    private let profile: BluetoothProfile
    private let objects: PeripheralObjects
    private let client: BlueZClient
    private var link: LinkDriver
    private let shown: LinkReport<BluetoothPeripheralState>
    /// The generation of bluetoothd with which the following registrations were made.
    private var generation = 0
    private var adapter: String?
    private var application = Registration.none
    private var advertisement = Registration.none
    private var central: Central?
    /// This program's end of the socket that feeds bluetoothd's notifications, or `nil` if no client is subscribed.
    private var notifications: Int32?

    init(
      _ profile: BluetoothProfile, name: String, client: BlueZClient, link: consuming LinkDriver,
      shown: LinkReport<BluetoothPeripheralState>
    ) {
      self.profile = profile
      objects = PeripheralObjects(profile, name: name)
      self.client = client
      self.link = link
      self.shown = shown
      client.prepare = { [unowned self] (bus) throws(SystemBus.Failure) in
        try bus.serve(below: PeripheralObjects.root) { [unowned self] in answer($0) }
      }
    }

    deinit { endNotifications() }

    var bell: Doorbell { link.bell }

    // MARK: actions that follow from the present state

    func settle(at now: TickInstant) {
      switch client.adapterInUse(at: now) {
      case .failure(let unavailable):
        agree(on: nil)
        shown.show(unavailable.absence.map { .waiting($0) } ?? .starting)
      case .success(let adapter):
        agree(on: adapter)
        if let central { watch(central) }
        register(adapter, at: now)
        shown.show(state(adapter))
      }
    }

    /// Discards registrations that were made with another bluetoothd or for another adapter.
    private func agree(on adapter: String?) {
      guard generation != client.generation || self.adapter != adapter else { return }
      endConnection()
      // An adapter that is merely switched off keeps the service; bluetoothd then reports that it exists already.
      generation = client.generation
      self.adapter = adapter
      application = .none
      advertisement = .none
    }

    private func watch(_ central: Central) {
      switch client.tree.isConnected(central.device) {
      case true?: self.central?.wasSeen = true
      case false?: endConnection()
      case nil: if central.wasSeen { endConnection() }
      }
    }

    private func register(_ adapter: String, at now: TickInstant) {
      if case .refused(_, let again) = application, !(now < again) { application = .none }
      if case .refused(_, let again) = advertisement, !(now < again) { advertisement = .none }
      if case .none = application {
        application = .underway
        ask(adapter, "org.bluez.GattManager1", "RegisterApplication", PeripheralObjects.root) { $0.application = $1 }
      }
      guard case .done = application else { return }
      switch advertisement {
      case .none where central == nil:
        advertisement = .underway
        ask(adapter, Self.advertising, "RegisterAdvertisement", PeripheralObjects.advertisement) {
          $0.advertisement = $1
        }
      case .done where central != nil:
        advertisement = .none
        try? client.bus?.request(
          BlueZClient.name, adapter, Self.advertising, "UnregisterAdvertisement",
          arguments: { (message) throws(SystemBus.Failure) in
            try message.append(.path(PeripheralObjects.advertisement), as: "o")
          }, answer: { _, _ in })
      default: break
      }
    }

    private static let advertising = "org.bluez.LEAdvertisingManager1"

    private func ask(
      _ adapter: String, _ interface: String, _ method: String, _ path: String,
      outcome: @escaping (PeripheralRole, Registration) -> Void
    ) {
      do throws(SystemBus.Failure) {
        try client.bus?.request(
          BlueZClient.name, adapter, interface, method, patienceMicroseconds: 10_000_000,
          arguments: { (message) throws(SystemBus.Failure) in
            try message.append(.path(path), as: "o")
            try message.append(.properties([:]), as: "a{sv}")
          },
          answer: { [unowned self, generation] _, failure in
            guard generation == client.generation, self.adapter == adapter else { return }
            outcome(self, registration(failure))
          })
      } catch {
        outcome(self, registration(error))
      }
    }

    private func registration(_ failure: SystemBus.Failure?) -> Registration {
      guard let failure, failure.name != "org.bluez.Error.AlreadyExists" else { return .done }
      return .refused(reason: failure.message, again: MonotonicClock.now + client.retryPeriod)
    }

    private func state(_ adapter: String) -> BluetoothPeripheralState {
      if let central {
        return .connected(device: client.tree.address(of: central.device))
      }
      switch (application, advertisement) {
      case (.refused(let reason, _), _), (_, .refused(let reason, _)): return .refused(reason: reason)
      case (.done, .done): return .advertising(adapter: BlueZClient.short(adapter))
      default: return .starting
      }
    }

    var deadline: TickInstant? {
      var first: TickInstant?
      for registration in [application, advertisement] {
        if case .refused(_, let again) = registration { first = first.map { min($0, again) } ?? again }
      }
      return first
    }

    // MARK: the connection

    /// Returns whether `device` is the connected central. If none is connected, the device becomes it.
    private func admit(_ device: String) -> Bool {
      if let central { return central.device == device }
      // A device that writes is connected, even if bluetoothd reports the connection only afterwards.
      client.doubtConnection(of: device)
      central = Central(device: device, wasSeen: client.tree.isConnected(device) == true)
      link.up()
      shown.count { $0.connections &+= 1 }
      return true
    }

    private func endConnection() {
      guard central != nil else { return }
      central = nil
      link.down()
      endNotifications()
    }

    private func endNotifications() {
      if let notifications { close(notifications) }
      notifications = nil
    }

    var waits: [(descriptor: Int32, events: Int16)] {
      notifications.map { [($0, Int16(truncatingIfNeeded: POLLIN))] } ?? []
    }

    /// Ends the notifications. bluetoothd never writes to the socket, so it has closed its end because no client is subscribed any more.
    func ready(_ descriptor: Int32) {
      if descriptor == notifications { endNotifications() }
    }

    func rung() {
      // A peripheral waits for centrals, so of the loop's orders only the end of a connection concerns it.
      if link.takeOrder() == .disconnect, let device = central?.device {
        try? client.bus?.request(BlueZClient.name, device, BlueZTree.device, "Disconnect") { _, _ in }
      }
      while let message = link.takeMessage() {
        var start = 0
        let pieces = !message.isEmpty && (profile.isStream || message.count <= profile.mostBytes)
        var isSent = pieces && notifications != nil
        while isSent, start < message.count {
          let end = min(start + profile.mostBytes, message.count)
          isSent = message[start..<end].withUnsafeBytes { bytes in
            send(
              notifications!, bytes.baseAddress!, bytes.count,
              Int32(truncatingIfNeeded: MSG_DONTWAIT) | Int32(truncatingIfNeeded: MSG_NOSIGNAL))
              == bytes.count
          }
          start = end
        }
        shown.count { if isSent { $0.sent &+= 1 } else { $0.dropped &+= 1 } }
      }
    }

    // MARK: calls of bluetoothd

    private func answer(_ call: borrowing BusMessage) -> Bool {
      guard let bus = client.bus, let path = call.path, let member = call.member else { return false }
      // Only bluetoothd may call: no other program on this machine may act as a central.
      guard call.sender == client.owner else {
        bus.refuse(call, .init(name: "org.freedesktop.DBus.Error.AccessDenied", message: "for bluetoothd only"))
        return true
      }
      do throws(SystemBus.Failure) {
        switch (call.interface, member) {
        case ("org.freedesktop.DBus.ObjectManager", "GetManagedObjects"):
          try bus.reply(to: call) { (reply) throws(SystemBus.Failure) in
            try reply.append(objects.managed, as: "a{oa{sa{sv}}}")
          }
        case (BlueZClient.properties, "GetAll"):
          guard let interface = call.text(), let properties = objects.properties(path, interface) else { return false }
          try bus.reply(to: call) { (reply) throws(SystemBus.Failure) in
            try reply.append(.properties(properties), as: "a{sv}")
          }
        case (BlueZClient.properties, "Get"):
          guard let interface = call.text(), let name = call.text(),
            let value = objects.properties(path, interface)?[name]
          else { return false }
          try bus.reply(to: call) { (reply) throws(SystemBus.Failure) in try reply.append(value, as: "v") }
        case (BlueZTree.characteristic, "WriteValue") where path == objects.written:
          try write(call, on: bus)
        case (BlueZTree.characteristic, "AcquireNotify") where path == objects.notified:
          try acquireNotify(call, on: bus)
        case (PeripheralObjects.advertisementInterface, "Release"):
          // bluetoothd has dropped the advertisement, for example because the adapter was switched off.
          advertisement = .none
          try bus.reply(to: call)
        default: return false
        }
      } catch {
        bus.refuse(call, error)
      }
      return true
    }

    private func write(_ call: borrowing BusMessage, on bus: SystemBus) throws(SystemBus.Failure) {
      guard let bytes = call.value()?.bytes, let options = call.value()?.properties,
        let device = options["device"]?.text
      else { throw Self.refusal("InvalidArguments", "bytes, and options with a device") }
      guard options["offset"]?.integer ?? 0 == 0 else { throw Self.refusal("InvalidOffset", "whole messages only") }
      guard (1...profile.mostBytes).contains(bytes.count) else {
        throw Self.refusal("InvalidValueLength", "1 to \(profile.mostBytes) bytes")
      }
      guard admit(device) else { throw Self.refusal("NotPermitted", "another central is connected") }
      let isDelivered = bytes.withUnsafeBytes { link.deliver($0) }
      shown.count { if isDelivered { $0.received &+= 1 } else { $0.refused &+= 1 } }
      guard isDelivered else { throw Self.refusal("Failed", "busy") }
      try bus.reply(to: call)
    }

    private func acquireNotify(_ call: borrowing BusMessage, on bus: SystemBus) throws(SystemBus.Failure) {
      guard let options = call.value()?.properties, let device = options["device"]?.text else {
        throw Self.refusal("InvalidArguments", "options with a device")
      }
      guard admit(device) else { throw Self.refusal("NotPermitted", "another central is connected") }
      var ends: [Int32] = [-1, -1]
      let type = Int32(truncatingIfNeeded: SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
      guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw Self.refusal("Failed", "no socket") }
      defer { close(ends[1]) }
      endNotifications()
      notifications = ends[0]
      let theirs = ends[1]
      try bus.reply(to: call) { (reply) throws(SystemBus.Failure) in
        try reply.append(.descriptor(theirs), as: "h")
        try reply.append(UInt16(clamping: options["mtu"]?.integer ?? profile.mostBytes))
      }
    }

    private static func refusal(_ name: String, _ message: String) -> SystemBus.Failure {
      SystemBus.Failure(name: "org.bluez.Error.\(name)", message: message)
    }

    func finish() {
      if let bus = client.bus, let adapter {
        func withdraw(_ interface: String, _ method: String, _ path: String) {
          _ = try? bus.call(BlueZClient.name, adapter, interface, method) { (message) throws(SystemBus.Failure) in
            try message.append(.path(path), as: "o")
          }
        }
        if case .done = advertisement {
          withdraw(Self.advertising, "UnregisterAdvertisement", PeripheralObjects.advertisement)
        }
        if case .done = application {
          withdraw("org.bluez.GattManager1", "UnregisterApplication", PeripheralObjects.root)
        }
        if let device = central?.device { client.endConnection(of: device) }
      }
      endConnection()
      shown.show(.stopped)
    }
  }
#endif
