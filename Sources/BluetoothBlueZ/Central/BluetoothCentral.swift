import Buses
import Tactus

/// Why an attempt to connect, or a connection, has ended.
public enum BluetoothCentralFailure: Sendable, Hashable, CustomStringConvertible {
  /// No device was heard that advertises what is looked for.
  case notFound(after: Nanoseconds)
  /// bluetoothd refused to start a scan.
  case scanRefused(reason: String)
  /// bluetoothd could not connect to the device, or did not answer in time.
  case connectRefused(reason: String)
  /// BlueZ did not say what the other end offers.
  case notResolved(after: Nanoseconds)
  /// The device offers no such service.
  case noService(BluetoothUUID)
  /// The device's service has no such characteristic.
  case noCharacteristic(BluetoothUUID)
  /// The characteristic takes no writes, neither with nor without response.
  case notWritable(BluetoothUUID)
  /// The characteristic offers neither notifications nor indications.
  case notNotifying(BluetoothUUID)
  /// bluetoothd refused the notifications, or they were not set up in time.
  case subscriptionRefused(reason: String)
  /// The other end has gone, or has ended the connection.
  case disconnected
  /// The loop has asked for it.
  case asked
  /// There is no radio to work with, or it went away.
  case absent(BluetoothAbsence)

  var isOfSubscription: Bool { if case .subscriptionRefused = self { true } else { false } }

  public var description: String {
    switch self {
    case .notFound(let limit): "nobody found within \(limit.count / 1_000_000_000) s"
    case .scanRefused(let reason): "bluetoothd does not scan: \(reason)"
    case .connectRefused(let reason): "no connection: \(reason)"
    case .notResolved(let limit): "what the device offers did not become known within \(limit.count / 1_000_000_000) s"
    case .noService(let uuid): "the device has no service \(uuid)"
    case .noCharacteristic(let uuid): "the service has no characteristic \(uuid)"
    case .notWritable(let uuid): "the characteristic \(uuid) cannot be written"
    case .notNotifying(let uuid): "the characteristic \(uuid) does not notify"
    case .subscriptionRefused(let reason): "no notifications: \(reason)"
    case .disconnected: "disconnected"
    case .asked: "disconnected as asked"
    case .absent(let absence): "\(absence)"
    }
  }
}

/// The central's state, for a log and for people.
public enum BluetoothCentralState: Sendable, Hashable, CustomStringConvertible {
  /// Until the loop asks for a connection, or `nil` if nothing has failed yet.
  case idle(BluetoothCentralFailure?)
  /// Looking for the peer. `adapter` is BlueZ's name for it: `hci0`.
  case scanning(adapter: String)
  /// From the peer's discovery until the link is up. `device` is its address, or its path where BlueZ tells none.
  case connecting(device: String)
  /// The link is up. `device` is as in `connecting`.
  case connected(device: String)
  /// After `stop`; no other state follows.
  case stopped

  public var description: String {
    switch self {
    case .idle(nil): "idle"
    case .idle(let failure?): "\(failure)"
    case .scanning(let adapter): "scanning on \(adapter)"
    case .connecting(let device): "connecting to \(device)"
    case .connected(let device): "connected to \(device)"
    case .stopped: "stopped"
    }
  }
}

/// Whom a central looks for.
public struct BluetoothPeer: Sendable, Hashable {
  /// What it calls itself, or `nil` if any name will do.
  public var name: String?
  /// `AA:BB:CC:DD:EE:FF`, or `nil` if any address will do.
  public var address: String?

  /// With neither, the first that advertises the profile's service.
  public init(name: String? = nil, address: String? = nil) {
    self.name = name
    self.address = address
  }
}

#if Bluetooth
  /// Connects to a GATT service of someone else's, for a `MessageLink`: what the loop sends is written there, what is
  /// notified becomes a message for the loop.
  ///
  /// Connects when the loop asks (`LinkControl.connect`), once for each time it asks: when to try again is the loop's own
  /// decision. Scans, connects, looks for the characteristics, subscribes; then the link is up. Writes are without response
  /// where the characteristic takes them so, through BlueZ's socket; otherwise one after the other with response.
  ///
  /// One thread of its own at normal priority.
  /// Source: BlueZ's doc/adapter-api.txt, doc/device-api.txt and doc/gatt-api.txt (5.66).
  public final class BluetoothCentral: Sendable {
    private let thread: BusThread
    private let shown: LinkReport<BluetoothCentralState>

    /// - Parameters:
    ///   - adapter: `hci1`, or an adapter's address, or `nil` for the first. It is switched on when it is off.
    ///   - link: its driver is taken.
    ///   - patience: for each step of an attempt: to be found, to be connected, to be known.
    ///   - report: called on the central's thread when the state has changed.
    ///   - busAddress: of the bus, or `nil` for the system bus.
    public init(
      _ profile: BluetoothProfile, to peer: BluetoothPeer, adapter: String? = nil, link: MessageLink,
      patience: Nanoseconds = .seconds(15), busAddress: String? = nil, retryPeriod: Nanoseconds = .seconds(5),
      report: @escaping @Sendable (BluetoothCentralState) -> Void
    ) throws(RuntimeError) {
      shown = LinkReport(.idle(nil), report)
      let client = BlueZClient(address: busAddress, adapter: adapter, retryPeriod: retryPeriod)
      let role = CentralRole(profile, to: peer, client: client, link: link.driver(), patience: patience, shown: shown)
      thread = try BusThread(role, client: client, bell: role.bell)
    }

    /// Returns at once.
    public func start() { thread.start(label: "tactus.bluetooth") }

    /// Disconnects, and returns when that is done: some milliseconds without a connection, two seconds with one, three with a
    /// bluetoothd that does not answer. Once, after `start`.
    public func stop() { thread.stop() }

    /// Any thread.
    public var state: BluetoothCentralState { shown.state }
    /// Any thread.
    public var traffic: LinkTraffic { shown.traffic }
  }
#endif
