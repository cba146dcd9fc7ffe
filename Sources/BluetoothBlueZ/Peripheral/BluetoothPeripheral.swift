import Buses
import Synchronization
import Tactus

/// The state of the peripheral, for a log and for people.
public enum BluetoothPeripheralState: Sendable, Hashable, CustomStringConvertible {
  /// The peripheral is being set up.
  case starting
  /// No adapter can be used.
  case waiting(BluetoothAbsence)
  /// bluetoothd refuses the service or its advertisement. Registration is tried again.
  case refused(reason: String)
  /// The peripheral waits for a central. `adapter` is BlueZ's name of the adapter, such as `hci0`.
  case advertising(adapter: String)
  /// A central is connected. `device` is its address, or its path if BlueZ reports no address.
  case connected(device: String)
  /// The peripheral was stopped by `stop`. No other state follows.
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
  /// A peripheral that advertises a GATT service under a name and carries the messages of a `MessageLink`.
  ///
  /// Writes of a central become messages for the loop, and messages of the loop are notified to the central. There is one central
  /// at a time: the first one that writes or subscribes is connected until BlueZ reports its disconnect. Meanwhile the
  /// advertisement is withdrawn, and writes of other centrals are refused. The peripheral recovers when a missing bus, bluetoothd
  /// or adapter is back.
  ///
  /// The peripheral has a separate thread with normal priority. If the central, bluetoothd or the adapter disappears, the thread
  /// first reports the link as down. Source: BlueZ's doc/gatt-api.txt and doc/advertising-api.txt (5.66).
  public final class BluetoothPeripheral: Sendable {
    private let thread: BusThread
    private let shown: LinkReport<BluetoothPeripheralState>

    /// Creates a peripheral that offers the profile's service. It does nothing before `start`.
    ///
    /// - Parameters:
    ///   - name: the advertised name. 8 bytes fit beside a long UUID; BlueZ cuts a longer name.
    ///   - adapter: the name of an adapter such as `hci1`, or its address, or `nil` for the first adapter. It is switched on if it is off.
    ///   - link: the link, whose driver is taken.
    ///   - report: called on the peripheral's thread when the state has changed.
    ///   - busAddress: the address of the bus, or `nil` for the system bus.
    ///   - retryPeriod: the time after which a refused registration is tried again.
    public init(
      _ profile: BluetoothProfile, name: String, adapter: String? = nil, link: MessageLink, busAddress: String? = nil,
      retryPeriod: Nanoseconds = .seconds(5), report: @escaping @Sendable (BluetoothPeripheralState) -> Void
    ) throws(RuntimeError) {
      shown = LinkReport(.starting, report)
      let client = BlueZClient(address: busAddress, adapter: adapter, retryPeriod: retryPeriod)
      let role = PeripheralRole(profile, name: name, client: client, link: link.driver(), shown: shown)
      thread = try BusThread(role, client: client, bell: role.bell)
    }

    /// Starts the peripheral's thread, without waiting for it.
    public func start() { thread.start(label: "tactus.bluetooth") }

    /// Withdraws the service and disconnects the central. Returns when this is done: within some milliseconds, two seconds with a
    /// central, and five seconds if bluetoothd does not answer. The function must be called once, after `start`.
    public func stop() { thread.stop() }

    /// The present state. The value may be read from any thread.
    public var state: BluetoothPeripheralState { shown.state }
    /// The present counts of messages and connections. The value may be read from any thread.
    public var traffic: LinkTraffic { shown.traffic }
  }
#endif
