#if Bluetooth
  import SystemBus
  import Tactus

  /// The advertisement of a device, such as a thermometer that sends its readings without a connection.
  public struct BluetoothAdvertisement: Sendable, Hashable {
    /// The address of the device in upper case: `AA:BB:CC:DD:EE:FF`.
    public var address: String
    /// The service to which the data belong.
    public var service: BluetoothUUID
    /// The service's data, which fit into one advertisement.
    public var data: [UInt8]
  }

  /// Listens for the service data of devices that advertise, through BlueZ, and connects to none of them.
  ///
  /// BlueZ scans while a listener runs, which takes power and a part of the radio's time; a device is heard as often as it advertises, or
  /// more seldom. Devices that a listener has heard are heard again when bluetoothd or the bus is back.
  ///
  /// The listener has a separate thread with normal priority. Source: BlueZ's org.bluez.Adapter(5) and org.bluez.Device(5).
  public final class BluetoothListener: Sendable {
    private let thread: BusThread
    private let shown: LinkReport<BluetoothListenerState>

    /// Creates a listener for the data of these services. It does nothing before `start`.
    ///
    /// - Parameters:
    ///   - services: the services whose data are reported.
    ///   - adapter: the name of an adapter such as `hci1`, or its address, or `nil` for the first adapter. It is switched on if it is off.
    ///   - busAddress: the address of the bus, or `nil` for the system bus.
    ///   - report: called on the listener's thread when the state has changed.
    ///   - heard: called on the listener's thread for every advertisement that BlueZ reports, also for one that says the same again.
    public init(
      for services: [BluetoothUUID], adapter: String? = nil, busAddress: String? = nil,
      retryPeriod: Nanoseconds = .seconds(5), report: @escaping @Sendable (BluetoothListenerState) -> Void = { _ in },
      heard: @escaping @Sendable (BluetoothAdvertisement) -> Void
    ) throws(RuntimeError) {
      shown = LinkReport(.starting, report)
      let client = BlueZClient(address: busAddress, adapter: adapter, retryPeriod: retryPeriod)
      let bell = try Doorbell()
      let role = ListenerRole(services, client: client, retryPeriod: retryPeriod, shown: shown, heard: heard)
      thread = try BusThread(role, client: client, bell: bell)
    }

    /// Starts the listener's thread, without waiting for it.
    public func start() { thread.start(label: "tactus.advertisements") }

    /// Ends the scan, and returns when this is done: within some milliseconds. The function must be called once, after `start`.
    public func stop() { thread.stop() }

    /// The present state. The value may be read from any thread.
    public var state: BluetoothListenerState { shown.state }
  }

  /// The state of a listener.
  public enum BluetoothListenerState: Sendable, Hashable, CustomStringConvertible {
    /// The listener waits for an adapter.
    case starting
    /// There is no adapter that can scan.
    case waiting(BluetoothAbsence)
    /// bluetoothd has refused to scan for this reason, and is asked again later.
    case refused(reason: String)
    /// The listener listens on this adapter.
    case listening(adapter: String)

    public var description: String {
      switch self {
      case .starting: "starting"
      case .waiting(let absence): "\(absence)"
      case .refused(let reason): "bluetoothd does not scan: \(reason)"
      case .listening(let adapter): "listens on \(adapter)"
      }
    }
  }

  /// The listener's work on its thread.
  private final class ListenerRole: LinkRole {
    private enum Scan {
      case off
      /// bluetoothd was asked to scan and has not answered yet.
      case asked(adapter: String)
      /// bluetoothd is scanning. It reports this by a property, which changes after its answer.
      case on(adapter: String, isSeen: Bool)
      case refused(again: TickInstant)
    }

    private let services: Set<String>
    private let client: BlueZClient
    private let retryPeriod: Nanoseconds
    private let shown: LinkReport<BluetoothListenerState>
    private let heard: (BluetoothAdvertisement) -> Void
    private var scan = Scan.off
    private var generation = 0

    init(
      _ services: [BluetoothUUID], client: BlueZClient, retryPeriod: Nanoseconds,
      shown: LinkReport<BluetoothListenerState>, heard: @escaping (BluetoothAdvertisement) -> Void
    ) {
      self.services = Set(services.map(\.text))
      (self.client, self.retryPeriod, self.shown, self.heard) = (client, retryPeriod, shown, heard)
      client.serviceData = { [unowned self] path, data in receive(path, data) }
    }

    func settle(at now: TickInstant) {
      let adapter = client.adapterInUse(at: now)
      if generation != client.generation {
        generation = client.generation
        scan = .off
      }
      switch adapter {
      case .failure(let unavailable):
        scan = .off
        if let absence = unavailable.absence { shown.show(.waiting(absence)) }
      case .success(let adapter): settle(on: adapter, at: now)
      }
    }

    private func settle(on adapter: String, at now: TickInstant) {
      switch scan {
      case .asked(let one) where one == adapter: break
      case .on(let one, let isSeen) where one == adapter:
        let isOn = client.tree[adapter, BlueZTree.adapter, "Discovering"]?.bool ?? false
        // A radio that is reset ends the scan.
        if isSeen, !isOn { begin(on: adapter) } else if isOn { scan = .on(adapter: adapter, isSeen: true) }
      case .refused(let again) where now < again: break
      case .off, .asked, .on, .refused: begin(on: adapter)
      }
    }

    private func begin(on adapter: String) {
      scan = .asked(adapter: adapter)
      let generation = generation
      // Every advertisement must be reported, even if its data have not changed, since each one shows that the device
      // was heard now.
      try? client.bus?.request(
        BlueZClient.name, adapter, BlueZTree.adapter, "SetDiscoveryFilter",
        arguments: { (message) throws(SystemBus.Failure) in
          try message.append(.properties(["Transport": .text("le"), "DuplicateData": .bool(true)]), as: "a{sv}")
        }, answer: { _, _ in })
      try? client.bus?.request(BlueZClient.name, adapter, BlueZTree.adapter, "StartDiscovery") {
        [unowned self] _, failure in
        guard generation == self.generation else { return }
        if let failure {
          scan = .refused(again: MonotonicClock.now + retryPeriod)
          shown.show(.refused(reason: failure.message))
        } else {
          scan = .on(adapter: adapter, isSeen: false)
          shown.show(.listening(adapter: BlueZClient.short(adapter)))
        }
      }
    }

    private func receive(_ path: String, _ data: [String: BusValue]) {
      for (service, value) in data where services.contains(service.lowercased()) {
        guard let service = BluetoothUUID(service), let bytes = value.bytes, bytes.count <= 255 else { continue }
        heard(
          BluetoothAdvertisement(address: client.tree.address(of: path).uppercased(), service: service, data: bytes))
      }
    }

    let waits: [(descriptor: Int32, events: Int16)] = []
    func ready(_ descriptor: Int32) {}
    func rung() {}

    var deadline: TickInstant? {
      if case .refused(let again) = scan { again } else { nil }
    }

    func finish() {
      if case .on(let adapter, _) = scan {
        _ = try? client.bus?.call(BlueZClient.name, adapter, BlueZTree.adapter, "StopDiscovery")
      }
    }
  }
#endif
