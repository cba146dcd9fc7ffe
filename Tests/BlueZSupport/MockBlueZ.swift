#if Bluetooth
  import Foundation
  import Synchronization
  import SystemBus
  import Tactus

  /// bluetoothd as far as this leaf needs it, with two radios that hear each other: what is advertised on one is found on
  /// the other, and what is written there arrives here.
  ///
  /// Runs on a thread of its own; `on { … }` does something there and waits for it. `stop` is bluetoothd's end.
  package final class MockBlueZ: @unchecked Sendable {
    package static let adapter = "org.bluez.Adapter1"
    package static let device = "org.bluez.Device1"
    package static let characteristic = "org.bluez.GattCharacteristic1"

    /// An application that a peripheral has registered.
    package struct Application {
      package var owner: String
      package var objects: BusValue
    }
    /// What a device has to offer: an application on the other radio, or a made-up one.
    package enum Remote {
      case adapter(String)
      case made(MadeDevice)
    }
    package struct Bridge {
      package var from: Int32
      package var handler: ([UInt8]) -> Void

      package init(from: Int32, handler: @escaping ([UInt8]) -> Void) {
        self.from = from
        self.handler = handler
      }
    }

    package let bus: SystemBus
    package var objects: [String: [String: [String: BusValue]]] = [:]
    package var applications: [String: Application] = [:]
    package var advertisements: [String: (owner: String, path: String, properties: [String: BusValue])] = [:]
    package var discovering: Set<String> = []
    package var remotes: [String: Remote] = [:]
    package var bridges: [Bridge] = []
    /// Sockets that go with a device's connection.
    package var sockets: [String: [Int32]] = [:]
    /// Notifications of a peripheral of ours to a device, and who hands them on.
    package var received: [String: [[UInt8]]] = [:]
    package var notified: [String: ([UInt8]) -> Void] = [:]
    /// What was called, in order.
    package var log: [String] = []

    // What is to go wrong.
    package var refusal: [String: String] = [:]  // method → message
    package var hasSockets = true
    /// bluetoothd may answer Connect before it tells the properties that come of it.
    package var answersBeforeItTells = false
    /// Methods that are not answered at all.
    package var silent: Set<String> = []

    private let bell: Doorbell
    private let jobs = Mutex<[@Sendable () -> Void]>([])
    private let isStopping = Mutex(false)
    private let ended = DispatchGroup()

    package init(on address: String, adapters: [String] = ["hci0", "hci1"], powered: Bool = true) throws {
      bell = try Doorbell()
      bus = try SystemBus(address: address)
      for (index, name) in adapters.enumerated() { putAdapter(name, index, powered: powered) }
      try bus.serve(below: "/") { [unowned self] in answer($0) }
      try bus.takeName("org.bluez")
      ended.enter()
      Thread { [self] in
        run()
        ended.leave()
      }.start()
    }

    /// bluetoothd ends, or dies: for others on the bus that is the same.
    package func stop() {
      isStopping.withLock { $0 = true }
      bell.button.ring()
      ended.wait()
    }

    /// Does something on the thread, and waits for it.
    package func on<Result: Sendable>(_ body: @escaping @Sendable (MockBlueZ) -> Result) -> Result {
      let result = Mutex<Result?>(nil)
      let done = DispatchSemaphore(value: 0)
      jobs.withLock {
        $0.append { [unowned self] in
          let value = body(self)
          result.withLock { $0 = value }
          done.signal()
        }
      }
      bell.button.ring()
      done.wait()
      return result.withLock { $0! }
    }

    private func run() {
      while !isStopping.withLock({ $0 }) {
        for job in jobs.withLock({ jobs in
          defer { jobs = [] }
          return jobs
        }) { job() }
        guard bus.process() else { break }
        var polls = [
          pollfd(fd: bell.descriptor, events: Int16(POLLIN), revents: 0),
          pollfd(fd: bus.descriptor, events: bus.events, revents: 0),
        ]
        polls += bridges.map { pollfd(fd: $0.from, events: Int16(POLLIN), revents: 0) }
        let now = UInt64(MonotonicClock.now.nanoseconds / 1000)
        let limit = bus.deadlineMicroseconds.map { $0 > now ? Int32(clamping: ($0 - now) / 1000 + 1) : 0 }
        guard poll(&polls, nfds_t(polls.count), limit ?? -1) > 0 else { continue }
        bell.clear()
        for poll in polls[2...] where poll.revents != 0 { carry(poll.fd) }
      }
      for device in sockets.keys { closeSockets(of: device) }
      bus.flush()
      bus.close()
    }

    private func carry(_ socket: Int32) {
      guard let bridge = bridges.first(where: { $0.from == socket }) else { return }
      var bytes = [UInt8](repeating: 0, count: 512)
      // Not `recv`: it may be a terminal.
      let count = read(socket, &bytes, bytes.count)
      if count > 0 {
        bridge.handler(Array(bytes[..<count]))
      } else if count == 0 {
        bridges.removeAll { $0.from == socket }
      }
    }

    package func closeSockets(of device: String) {
      let closed = sockets.removeValue(forKey: device) ?? []
      bridges.removeAll { closed.contains($0.from) }
      for socket in closed { close(socket) }
    }

    // MARK: objects

    package func putAdapter(_ name: String, _ index: Int, powered: Bool = true) {
      put(
        "/org/bluez/\(name)",
        [
          Self.adapter: ["Address": .text("00:AA:01:00:00:0\(index)"), "Powered": .bool(powered)],
          "org.bluez.GattManager1": [:], "org.bluez.LEAdvertisingManager1": [:],
        ])
    }

    package func put(_ path: String, _ interfaces: [String: [String: BusValue]]) {
      objects[path] = interfaces
      try? bus.signal("/", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded") {
        (message) throws(SystemBus.Failure) in
        try message.append(.path(path), as: "o")
        try message.append(Self.value(interfaces), as: "a{sa{sv}}")
      }
    }

    package func drop(_ path: String) {
      for path in objects.keys.filter({ $0 == path || $0.hasPrefix(path + "/") }).sorted().reversed() {
        closeSockets(of: path)
        let interfaces = objects.removeValue(forKey: path)!.keys.sorted()
        try? bus.signal("/", "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved") {
          (message) throws(SystemBus.Failure) in
          try message.append(.path(path), as: "o")
          try message.append(.texts(interfaces), as: "as")
        }
      }
      applications[path] = nil
      advertisements[path] = nil
      discovering.remove(path)
    }

    package func set(_ path: String, _ interface: String, _ name: String, _ value: BusValue) {
      guard objects[path]?[interface] != nil else { return }
      objects[path]![interface]![name] = value
      try? bus.signal(path, "org.freedesktop.DBus.Properties", "PropertiesChanged") {
        (message) throws(SystemBus.Failure) in
        try message.append(interface)
        try message.append(.properties([name: value]), as: "a{sv}")
        try message.append(.texts([]), as: "as")
      }
    }

    package static func value(_ interfaces: [String: [String: BusValue]]) -> BusValue {
      .dictionary(
        Dictionary(uniqueKeysWithValues: interfaces.map { (BusValue.text($0), BusValue.properties($1)) }))
    }

    package var managed: BusValue {
      .dictionary(Dictionary(uniqueKeysWithValues: objects.map { (BusValue.path($0), Self.value($1)) }))
    }
  }
#endif
