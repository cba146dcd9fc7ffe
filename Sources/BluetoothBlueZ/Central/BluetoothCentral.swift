import Buses
import Tactus

/// The reason why an attempt to connect, or a connection, has ended.
public enum BluetoothCentralFailure: Sendable, Hashable, CustomStringConvertible {
  /// No device was found that advertises the service.
  case notFound(after: Nanoseconds)
  /// bluetoothd refused to start a scan.
  case scanRefused(reason: String)
  /// bluetoothd could not connect to the device, or did not answer in time.
  case connectRefused(reason: String)
  /// BlueZ did not report the services of the device in time.
  case notResolved(after: Nanoseconds)
  /// The device does not offer this service.
  case noService(BluetoothUUID)
  /// The device's service does not have this characteristic.
  case noCharacteristic(BluetoothUUID)
  /// The characteristic accepts no writes, neither with nor without response.
  case notWritable(BluetoothUUID)
  /// The characteristic offers neither notifications nor indications.
  case notNotifying(BluetoothUUID)
  /// bluetoothd refused the notifications, or they were not set up in time.
  case subscriptionRefused(reason: String)
  /// The device has disconnected or is out of reach.
  case disconnected
  /// The loop has requested the end of the connection.
  case asked
  /// No adapter can be used, or it has disappeared.
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

/// The state of the central, for a log and for people.
public enum BluetoothCentralState: Sendable, Hashable, CustomStringConvertible {
  /// The loop has not requested a connection. The failure is that of the last attempt, or `nil` if no attempt has failed.
  case idle(BluetoothCentralFailure?)
  /// The central is searching for the peer. `adapter` is BlueZ's name of the adapter, such as `hci0`.
  case scanning(adapter: String)
  /// The peer was found and the link is not up yet. `device` is the peer's address, or its path if BlueZ reports no address.
  case connecting(device: String)
  /// The link is up. `device` is the peer's address or path, as in `connecting`.
  case connected(device: String)
  /// The central was stopped by `stop`. No other state follows.
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

/// The peer for which a central searches.
public struct BluetoothPeer: Sendable, Hashable {
  /// The name of the peer, or `nil` for any name.
  public var name: String?
  /// The address of the peer, such as `AA:BB:CC:DD:EE:FF`, or `nil` for any address.
  public var address: String?

  /// Creates a description of a peer. With neither name nor address it matches the first device that advertises the profile's service.
  public init(name: String? = nil, address: String? = nil) {
    self.name = name
    self.address = address
  }
}

#if Bluetooth
  /// A central that connects to a remote GATT service on behalf of a `MessageLink`: messages of the loop are written to the
  /// service, and notifications become messages for the loop.
  ///
  /// The central connects once for each time the loop requests it (`LinkControl.connect`); the loop decides when to try again. The
  /// central scans, connects, looks for the characteristics and subscribes; then the link is up. Writes are made without response,
  /// through BlueZ's socket, if the characteristic supports that; otherwise one after the other with response.
  ///
  /// The central has a separate thread with normal priority. Source: BlueZ's doc/adapter-api.txt, doc/device-api.txt and doc/gatt-api.txt (5.66).
  public final class BluetoothCentral: Sendable {
    private let thread: BusThread
    private let shown: LinkReport<BluetoothCentralState>

    /// Creates a central for connections to `peer`. It does nothing before `start`.
    ///
    /// - Parameters:
    ///   - adapter: the name of an adapter such as `hci1`, or its address, or `nil` for the first adapter. It is switched on if it is off.
    ///   - link: the link, whose driver is taken.
    ///   - patience: the timeout of each step of an attempt: finding the device, connecting, and resolving its services.
    ///   - report: called on the central's thread when the state has changed.
    ///   - busAddress: the address of the bus, or `nil` for the system bus.
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

    /// Starts the central's thread, without waiting for it.
    public func start() { thread.start(label: "tactus.bluetooth") }

    /// Disconnects, and returns when this is done: within some milliseconds without a connection, two seconds with one, and three
    /// seconds if bluetoothd does not answer. The function must be called once, after `start`.
    public func stop() { thread.stop() }

    /// The present state. The value may be read from any thread.
    public var state: BluetoothCentralState { shown.state }
    /// The present counts of messages and connections. The value may be read from any thread.
    public var traffic: LinkTraffic { shown.traffic }
  }
#endif
