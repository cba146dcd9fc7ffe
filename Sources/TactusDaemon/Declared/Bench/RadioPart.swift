import BluetoothBlueZ
import Buses
import Logging
import Service
import Tactus

/// A Bluetooth service that a bench has opened, through BlueZ or on a simulated radio. The bench keeps it alive.
public final class RadioPart: BenchLink {
  /// Returns the port for the messages, for the loop that owns the link.
  public let port: () -> DatagramPort
  /// Returns the control of the connection, for the loop that owns the link.
  public let control: () -> LinkControl
  /// The input that releases the loop when a message arrives.
  public let loopInput: LoopInput
  /// A function that returns a report on the service. It may be called from any thread.
  public let report: @Sendable () -> LinkReport
  private let advertise: () -> Void
  private let withdraw: () -> Void

  /// Creates the service, which is not advertised before `start`.
  init(
    _ profile: BluetoothProfile, name: String, adapter: String?, capacity: Int, isReal: Bool, _ parts: BenchParts
  ) throws {
    guard isReal else {
      let link = try SimulatedMessageLink(clock: parts.clock)
      port = { link.port() }
      control = { link.control() }
      loopInput = link.input
      advertise = {}
      withdraw = {}
      report = {
        link.isUp
          ? LinkReport(.connected, device: adapter, peer: "simulated") : LinkReport(.advertising, device: adapter)
      }
      if parts.mode == .simulated {
        parts.addSimulated(SimulatedBus("\(parts.system)-bluetooth", .link(link)))
      }
      return
    }
    #if Bluetooth
      let link = try MessageLink(capacity: capacity)
      let (logger, system) = (parts.logger, parts.at.name)
      let peripheral = try BluetoothPeripheral(profile, name: name, adapter: adapter, link: link) { state in
        logger?.log(
          level: state.logLevel, "Bluetooth", metadata: ["system": .string(system), "state": "\(state)"])
      }
      port = { link.port() }
      control = { link.control() }
      loopInput = link.input
      advertise = { peripheral.start() }
      withdraw = { peripheral.stop() }
      report = {
        var report = peripheral.state.report(wanted: adapter)
        report.lost = peripheral.traffic.refused
        return report
      }
    #else
      preconditionFailure("the configuration let through a radio that this program cannot drive")
    #endif
  }

  func start() { advertise() }

  func mend(_ logger: Logger) {}

  /// Withdraws the service and disconnects the central. Called once, after `start`. It takes some milliseconds, up to
  /// two seconds with a central connected, and longer if bluetoothd does not answer.
  func stop() { withdraw() }
}

#if Bluetooth
  extension BluetoothPeripheralState {
    fileprivate var logLevel: Logger.Level {
      switch self {
      case .starting, .stopped: .debug
      case .advertising, .connected: .info
      case .waiting, .refused: .warning
      }
    }

    fileprivate func report(wanted: String?) -> LinkReport {
      switch self {
      case .starting: LinkReport(.starting, device: wanted)
      case .waiting(let absence): LinkReport(.waiting, device: wanted, reason: "\(absence)")
      case .refused: LinkReport(.refused, device: wanted, reason: "\(self)")
      case .advertising(let adapter): LinkReport(.advertising, device: adapter)
      case .connected(let device): LinkReport(.connected, device: wanted, peer: device)
      case .stopped: LinkReport(.stopped, device: wanted)
      }
    }
  }
#endif
