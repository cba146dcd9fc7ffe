import Buses
import Synchronization
import Tactus

/// The peripheral's state, for a log and for people.
public enum BluetoothPeripheralState: Sendable, Hashable, CustomStringConvertible {
  /// Being set up.
  case starting
  /// No radio to work with.
  case waiting(BluetoothAbsence)
  /// bluetoothd does not take the service or its advertisement; tried again.
  case refused(reason: String)
  /// Waits for a central. `adapter` is BlueZ's name for it: `hci0`.
  case advertising(adapter: String)
  /// `device` is its address, or its path where BlueZ tells none.
  case connected(device: String)
  /// After `stop`; no other state follows.
  case stopped

  public var description: String {
    switch self {
    case .starting: "starting"
    case .waiting(let absence): "\(absence)"
    case .refused(let reason): "bluetoothd refuses: \(reason)"
    case .advertising(let adapter): "advertising on \(adapter)"
    case .connected(let device): "connected to \(device)"
    case .stopped: "stopped"
    }
  }
}

#if Bluetooth
  /// A GATT service of our own, advertised under a name, that carries a `MessageLink`'s messages.
  ///
  /// What a central writes becomes a message for the loop; what the loop sends is notified to the central. One central at a
  /// time: the first that writes or subscribes is connected until BlueZ says that it is gone, the advertisement is withdrawn
  /// meanwhile, and another's writes are refused. Comes back after whatever is missing has come back: bus, bluetoothd,
  /// adapter.
  ///
  /// One thread of its own at normal priority. The link is down before the thread does anything else when the central, bluetoothd
  /// or the adapter goes.
  /// Source: BlueZ's doc/gatt-api.txt and doc/advertising-api.txt (5.66).
  public final class BluetoothPeripheral: Sendable {
    private let thread: BusThread
    private let shown: LinkReport<BluetoothPeripheralState>

    /// - Parameters:
    ///   - name: what people choose from; 8 bytes fit beside a long UUID, a longer name is cut by BlueZ.
    ///   - adapter: `hci1`, or an adapter's address, or `nil` for the first. It is switched on when it is off.
    ///   - link: its driver is taken.
    ///   - report: called on the peripheral's thread when the state has changed.
    ///   - busAddress: of the bus, or `nil` for the system bus.
    ///   - retryPeriod: how soon what was refused is tried again.
    public init(
      _ profile: BluetoothProfile, name: String, adapter: String? = nil, link: MessageLink, busAddress: String? = nil,
      retryPeriod: Nanoseconds = .seconds(5), report: @escaping @Sendable (BluetoothPeripheralState) -> Void
    ) throws(RuntimeError) {
      shown = LinkReport(.starting, report)
      let client = BlueZClient(address: busAddress, adapter: adapter, retryPeriod: retryPeriod)
      let role = PeripheralRole(profile, name: name, client: client, link: link.driver(), shown: shown)
      thread = try BusThread(role, client: client, bell: role.bell)
    }

    /// Returns at once.
    public func start() { thread.start(label: "tactus.bluetooth") }

    /// Withdraws the service, disconnects the central, and returns when that is done: some milliseconds, or two seconds with a
    /// central, five with a bluetoothd that does not answer. Once, after `start`.
    public func stop() { thread.stop() }

    /// Any thread.
    public var state: BluetoothPeripheralState { shown.state }
    /// Any thread.
    public var traffic: LinkTraffic { shown.traffic }
  }
#endif
