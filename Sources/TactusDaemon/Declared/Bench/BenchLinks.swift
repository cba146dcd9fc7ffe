import BluetoothBlueZ
import Buses
import BusesLinux
import Logging
import Service
import Tactus

/// A link of a bench. It runs from the start of the loops until after their end.
protocol BenchLink: AnyObject {
  /// Starts the link. Called when the loops start.
  func start()
  /// Repairs what the loop cannot repair itself. Called once a second.
  func mend(_ logger: Logger)
  /// Stops the link. Called after the loops have ended; may take some seconds.
  func stop()
}

extension Bench {
  /// Opens a serial line as a link whose device may be unplugged and plugged in again. The link has no safe state to
  /// write, because the device at its other end operates this system. In a simulation the line is a pseudo-terminal
  /// that any program may open; the log names it.
  ///
  /// - Parameters:
  ///   - path: the key of the line's device.
  ///   - device: the value of that key.
  ///   - baud: one of `LinuxSerialPort.baudRates`.
  ///   - staysReal: whether the line is real if only the file, and not the command line, selects simulated hardware.
  public func line(
    _ path: KeyPath<Wiring, String?>, device: String, baud: Int, staysReal: Bool = false
  ) throws -> LinePart {
    parts.claim(.serial(path: device), try key(path))
    if staysReal { parts.lastingClaims.insert(.serial(path: device)) }
    let isReal = parts.mode == .real || staysReal && parts.hasRealLinks
    let part = try opening(path) { try LinePart(device, baud: baud, isReal: isReal, parts) }
    parts.links.append(part)
    return parts.hold(part)
  }

  /// Opens a Bluetooth service to which one central at a time connects. A missing radio is not an error: the service
  /// uses the radio as soon as it appears.
  ///
  /// - Parameters:
  ///   - profile: the profile of the service's messages.
  ///   - name: the name that users see when they choose a device.
  ///   - adapter: a name such as `hci0` or an adapter's address, or `nil` for the first adapter found.
  ///   - key: the key that enables the service, which errors name.
  ///   - capacity: the maximum number of queued messages.
  ///   - staysReal: whether the radio is real if only the file, and not the command line, selects simulated hardware.
  public func peripheral(
    _ profile: BluetoothProfile, name: String, adapter: String?, at key: PartialKeyPath<Wiring>, capacity: Int = 16,
    staysReal: Bool = false
  ) throws -> RadioPart {
    parts.claim(.radio(adapter: adapter), try self.key(key))
    if staysReal { parts.lastingClaims.insert(.radio(adapter: adapter)) }
    let isReal = parts.mode == .real || staysReal && parts.hasRealLinks
    let part = try opening(key) {
      try RadioPart(profile, name: name, adapter: adapter, capacity: capacity, isReal: isReal, parts)
    }
    parts.links.append(part)
    return parts.hold(part)
  }

  /// Returns the port of a link, which can be impaired under `/api/sim` in a simulation unless the link is real.
  ///
  /// - Parameters:
  ///   - name: the name under `/api/sim`, which follows that of the system: `serial`.
  ///   - line: the line that carries the link.
  ///   - port: makes the port.
  /// - Returns: `port` unchanged, or a function that makes the port behind the impaired link.
  public func impaired(
    _ name: String, of line: LinePart, _ port: @escaping () -> DatagramPort
  ) -> () -> DatagramPort {
    guard parts.mode == .simulated, !line.isReal else { return port }
    let impaired = parts.hold(ImpairedDatagrams(port(), clock: parts.clock))
    parts.addSimulated(SimulatedBus("\(parts.system)-\(name)", .datagram(impaired)))
    return { impaired.port() }
  }

  /// Claims a resource that a system can have only once, such as a channel of a chip or a name, for an item of a list.
  /// The claim also holds in a simulation.
  ///
  /// - Parameters:
  ///   - what: the name of the resource in errors.
  ///   - index: the index of the item, from 0.
  ///   - property: the property whose key asks for the resource.
  public func claim<Item: Settings>(
    _ what: String, of list: KeyPath<Wiring, [Item]>, _ index: Int, _ property: PartialKeyPath<Item>
  ) {
    let path = "\(parts.listPath(Wiring.key(of: list).name))[\(index)].\(Item.key(of: property).name)"
    parts.claims.append(ResourceClaim(resource: .part(what), key: path))
    parts.lastingClaims.insert(.part(what))
  }

  /// Adds work on real or simulated devices that runs when the loops have ended, such as putting a chip to sleep. It
  /// runs whether or not the outputs have confirmed that they are off, and may block for some milliseconds.
  ///
  /// - Parameter failure: the message that is logged if the work fails.
  public func afterLoops(_ failure: String, _ work: @escaping () throws -> Void) {
    if parts.mode != .planning { parts.endings.append((failure, work)) }
  }
}

/// The state of a link as reported to its owner.
public struct LinkReport: Sendable, Equatable {
  /// The state of a link.
  public enum State: String, Sendable, Encodable, Word {
    /// The link is being set up.
    case starting
    /// A device that the link needs is missing; the link uses it as soon as it appears.
    case waiting
    /// The Bluetooth daemon rejected the service; registration is retried.
    case refused
    /// The service is advertised and a central may connect.
    case advertising
    /// A peer is connected.
    case connected
    /// The link has ended.
    case stopped
    /// The device of the line is present, or the port is open.
    case open
    /// The device of the serial line was unplugged.
    case gone

    /// Whether a peer can use the link.
    public var isUsable: Bool {
      switch self {
      case .advertising, .connected, .open: true
      case .starting, .waiting, .refused, .stopped, .gone: false
      }
    }
  }

  /// The state of the link.
  public var state: State
  /// The device of the link, such as `hci0` or `/dev/ttyACM0`, or `nil` if it is not known.
  public var device: String?
  /// The connected peer, or `nil` if none is connected.
  public var peer: String?
  /// The reason why the link does not work, or `nil` if it works.
  public var reason: String?
  /// The number of received messages that never reached the loop, because of noise on a line or because the loop was
  /// behind.
  public var lost: UInt64

  /// Creates a report from its values.
  public init(
    _ state: State, device: String? = nil, peer: String? = nil, reason: String? = nil, lost: UInt64 = 0
  ) {
    (self.state, self.device, self.peer, self.reason, self.lost) = (state, device, peer, reason, lost)
  }

  /// Returns the same report with a number of lost messages.
  public func losing(_ lost: UInt64) -> LinkReport {
    LinkReport(state, device: device, peer: peer, reason: reason, lost: lost)
  }
}
