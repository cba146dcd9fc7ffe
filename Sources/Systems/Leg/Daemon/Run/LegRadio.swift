import BluetoothBlueZ
import Buses
import Leg
import Logging
import Service
import Tactus
import TactusDaemon

/// A leg's service over Bluetooth: through BlueZ, or of a simulated radio. Must outlive the loop that it leads to.
///
/// A radio that is not there is no error: it is used as soon as it is.
final class LegRadio {
  private enum End {
    case simulated(SimulatedMessageLink)
    #if Bluetooth
      case real(MessageLink, BluetoothPeripheral)
    #endif
  }

  private let end: End
  /// Any thread.
  let report: @Sendable () -> LegLinkReport

  /// Nothing is advertised before `start`.
  init(_ bluetooth: Configuration.Legs.Bluetooth, simulate: Bool, logger: Logger) throws {
    let adapter = bluetooth.adapter
    if simulate {
      let link = try SimulatedMessageLink(clock: .monotonic)
      end = .simulated(link)
      report = {
        link.isUp
          ? LegLinkReport(.bluetooth, .connected, device: adapter, peer: "simulated")
          : LegLinkReport(.bluetooth, .advertising, device: adapter)
      }
      return
    }
    #if Bluetooth
      let link = try MessageLink()
      let peripheral = try BluetoothPeripheral(
        .framed, name: "LegCtrl", adapter: adapter, link: link
      ) { state in
        logger.log(
          level: state.logLevel, "Bluetooth",
          metadata: ["system": "leg", "leg": .stringConvertible(0), "state": "\(state)"])
      }
      end = .real(link, peripheral)
      report = {
        var report = peripheral.state.report(wanted: adapter)
        report.lost = peripheral.traffic.refused
        return report
      }
    #else
      preconditionFailure("the configuration let through a radio that this program cannot drive")
    #endif
  }

  /// It is `nil` if it is real.
  var simulated: SimulatedMessageLink? {
    if case .simulated(let link) = end { link } else { nil }
  }

  /// The next link of `ports`, to leg 0. What releases the loop.
  func append(to ports: inout LegPorts) -> LoopInput {
    switch end {
    case .simulated(let link):
      ports.append(.bluetooth, link.port(), control: link.control(), of: 0)
      return link.input
    #if Bluetooth
      case .real(let link, _):
        ports.append(.bluetooth, link.port(), control: link.control(), of: 0)
        return link.input
    #endif
    }
  }

  func start() {
    #if Bluetooth
      if case .real(_, let peripheral) = end { peripheral.start() }
    #endif
  }

  /// Withdraws the service and disconnects who is connected: some milliseconds, two seconds with somebody connected, some more
  /// with a bluetoothd that does not answer. Once, after `start`.
  func stop() {
    #if Bluetooth
      if case .real(_, let peripheral) = end { peripheral.stop() }
    #endif
  }
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

    fileprivate func report(wanted: String?) -> LegLinkReport {
      switch self {
      case .starting: LegLinkReport(.bluetooth, .starting, device: wanted)
      case .waiting(let absence): LegLinkReport(.bluetooth, .waiting, device: wanted, reason: "\(absence)")
      case .refused: LegLinkReport(.bluetooth, .refused, device: wanted, reason: "\(self)")
      case .advertising(let adapter): LegLinkReport(.bluetooth, .advertising, device: adapter)
      case .connected(let device): LegLinkReport(.bluetooth, .connected, device: wanted, peer: device)
      case .stopped: LegLinkReport(.bluetooth, .stopped, device: wanted)
      }
    }
  }
#endif
