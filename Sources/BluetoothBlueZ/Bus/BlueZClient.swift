#if Bluetooth
  import SystemBus
  import Tactus

  /// A connection to bluetoothd that mirrors its objects, reconnects when the bus or bluetoothd is back, and finds an adapter that is switched on.
  ///
  /// It is to be used on the bus thread only. After each message that arrives `changed` is called, in which the client's owner looks at
  /// the objects and reacts. No change is missed, however short it is.
  final class BlueZClient {
    static let name = "org.bluez"
    static let properties = "org.freedesktop.DBus.Properties"

    private let address: String?
    private let wantedAdapter: String?
    let retryPeriod: Nanoseconds
    private(set) var bus: SystemBus?
    private(set) var tree = BlueZTree()
    /// The unique bus name of bluetoothd, or `nil` if it does not run.
    private(set) var owner: String?
    /// A number that changes with each new bluetoothd, with which all registrations and calls of the previous one are void.
    private(set) var generation = 0
    private enum Load {
      case wanted
      case underway
      case done
      case failed(reason: String, again: TickInstant)
    }
    private var load = Load.wanted
    private var busFailure = "not tried"
    private var retryAt = TickInstant(nanoseconds: 0)
    private(set) var adapter: String?
    private var powering: String?
    private var powerRefusal: String?
    private var powerAt = TickInstant(nanoseconds: 0)

    /// The function that is called after every message.
    var changed: () -> Void = {}
    /// The function that is called with the path and the new value of a characteristic.
    var valueChanged: (String, [UInt8]) -> Void = { _, _ in }
    /// The function that is called with the path of a device and the data of its services when it has advertised them.
    var serviceData: (String, [String: BusValue]) -> Void = { _, _ in }
    /// The function that is called for every new connection to the bus, to offer objects on it.
    var prepare: (SystemBus) throws(SystemBus.Failure) -> Void = { (_) throws(SystemBus.Failure) in }

    /// Creates a client of bluetoothd for one adapter.
    ///
    /// - Parameters:
    ///   - address: the address of the bus, or `nil` for the system bus.
    ///   - adapter: the name of an adapter such as `hci1`, or its address, or `nil` for the first adapter.
    init(address: String?, adapter: String?, retryPeriod: Nanoseconds) {
      self.address = address
      wantedAdapter = adapter
      self.retryPeriod = retryPeriod
    }

    /// The instant at which `adapterInUse` has to be called even if no message arrives, or `nil` if only a message is awaited.
    var deadline: TickInstant? {
      if bus == nil { return retryAt }
      if case .failed(_, let again) = load { return again }
      return powerRefusal == nil ? nil : powerAt
    }

    /// Returns the path of an adapter that is switched on, or the reason why none can be used. An adapter stays in use as long as possible.
    func adapterInUse(at now: TickInstant) -> Result<String, Unavailable> {
      connect(at: now)
      guard bus != nil else { return .failure(.init(.noBus(reason: busFailure))) }
      guard owner != nil else { return .failure(.init(.noBluetoothd)) }
      switch load {
      case .done: break
      case .underway: return .failure(.init(nil))
      case .failed(let reason, let again) where now < again: return .failure(.init(.noAnswer(reason: reason)))
      case .wanted, .failed:
        loadObjects()
        return .failure(.init(nil))
      }
      if let adapter, !tree.has(adapter, BlueZTree.adapter) { self.adapter = nil }
      if adapter == nil { adapter = tree.paths(with: BlueZTree.adapter).first(where: isWanted) }
      guard let adapter else { return .failure(.init(.noAdapter(wanted: wantedAdapter))) }
      guard tree[adapter, BlueZTree.adapter, "Powered"]?.bool ?? false else {
        powerOn(adapter, at: now)
        return .failure(.init(powerRefusal.map { .notPowered(adapter: Self.short(adapter), reason: $0) }))
      }
      powerRefusal = nil
      return .success(adapter)
    }

    /// The reason why no adapter can be used, or `nil` if it is not known yet.
    struct Unavailable: Error {
      let absence: BluetoothAbsence?
      init(_ absence: BluetoothAbsence?) { self.absence = absence }
    }

    /// Returns the last part of a path: `hci0` for `/org/bluez/hci0`.
    static func short(_ path: String) -> String { String(path.split(separator: "/").last ?? "") }

    private func isWanted(_ path: String) -> Bool {
      guard let wantedAdapter else { return true }
      return Self.short(path) == wantedAdapter
        || tree[path, BlueZTree.adapter, "Address"]?.text?.uppercased() == wantedAdapter.uppercased()
    }

    private func powerOn(_ adapter: String, at now: TickInstant) {
      guard powering == nil, powerRefusal == nil || !(now < powerAt) else { return }
      powering = adapter
      powerAt = now + retryPeriod
      let generation = generation
      try? bus?.request(
        Self.name, adapter, Self.properties, "Set", patienceMicroseconds: 10_000_000,
        arguments: { (message) throws(SystemBus.Failure) in
          try message.append(BlueZTree.adapter)
          try message.append("Powered")
          try message.append(.bool(true), as: "v")
        },
        answer: { [unowned self] _, failure in
          guard generation == self.generation else { return }
          powering = nil
          powerRefusal = failure?.message
          powerAt = MonotonicClock.now + retryPeriod
        })
    }

    // MARK: the bus

    private func connect(at now: TickInstant) {
      guard bus == nil, !(now < retryAt) else { return }
      retryAt = now + retryPeriod
      do throws(SystemBus.Failure) {
        let bus = try SystemBus(address: address)
        try watch(bus)
        try prepare(bus)
        self.bus = bus
        let reply = try? bus.call(
          "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetNameOwner"
        ) {
          (message) throws(SystemBus.Failure) in try message.append(Self.name)
        }
        ownerChanged(to: reply?.text())
      } catch {
        busFailure = error.message
      }
    }

    private func watch(_ bus: SystemBus) throws(SystemBus.Failure) {
      try bus.match("type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(Self.name)'") {
        [unowned self] message in
        guard message.text() != nil, message.text() != nil, let owner = message.text() else { return }
        ownerChanged(to: owner.isEmpty ? nil : owner)
      }
      let objects = "type='signal',sender='\(Self.name)',interface='org.freedesktop.DBus.ObjectManager'"
      try bus.match("\(objects),member='InterfacesAdded'") { [unowned self] message in
        guard let path = message.value()?.text, let interfaces = message.value() else { return }
        tree.add(path, interfaces)
        if let data = tree[path, BlueZTree.device, "ServiceData"]?.properties { serviceData(path, data) }
      }
      try bus.match("\(objects),member='InterfacesRemoved'") { [unowned self] message in
        guard let path = message.value()?.text, let interfaces = message.value()?.texts else { return }
        tree.remove(path, interfaces)
      }
      try bus.match(
        "type='signal',sender='\(Self.name)',interface='\(Self.properties)',member='PropertiesChanged'"
      ) { [unowned self] message in
        guard let path = message.path, let interface = message.text(), let changed = message.value()?.properties
        else { return }
        tree.change(path, interface, changed, invalidated: message.value()?.texts ?? [])
        if interface == BlueZTree.device, let data = changed["ServiceData"]?.properties { serviceData(path, data) }
        if interface == BlueZTree.characteristic, let value = changed["Value"]?.bytes { valueChanged(path, value) }
      }
    }

    private func ownerChanged(to newOwner: String?) {
      guard newOwner != owner else { return }
      forget()
      owner = newOwner
    }

    private func loadObjects() {
      load = .underway
      let generation = generation
      try? bus?.request(
        Self.name, "/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", patienceMicroseconds: 10_000_000
      ) { [unowned self] reply, failure in
        guard generation == self.generation else { return }
        if let failure {
          load = .failed(reason: failure.message, again: MonotonicClock.now + retryPeriod)
        } else {
          tree = BlueZTree(reply.value())
          load = .done
        }
      }
    }

    private func forget() {
      generation += 1
      owner = nil
      load = .wanted
      tree = BlueZTree()
      adapter = nil
      powering = nil
      powerRefusal = nil
    }

    /// Dispatches the messages that have arrived.
    func process(at now: TickInstant) {
      guard let bus, !bus.process(afterEach: { self.changed() }) else { return }
      disconnect()
      busFailure = "it has gone"
      retryAt = now + retryPeriod
      changed()
    }

    /// Ends a device's connection and waits at most three seconds for its end, which takes two seconds with a real bluetoothd. A device that
    /// connected again before that would get the connection that is about to end.
    func endConnection(of device: String) {
      _ = try? bus?.call(Self.name, device, BlueZTree.device, "Disconnect", patienceMicroseconds: 3_000_000)
    }

    /// Discards a reported disconnect of a device: see `BlueZTree.doubtConnection`.
    func doubtConnection(of device: String) { tree.doubtConnection(of: device) }

    func disconnect() {
      bus = nil
      forget()
    }
  }
#endif
