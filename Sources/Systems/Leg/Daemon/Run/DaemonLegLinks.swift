import BusesLinux
import Leg
import Logging
import Service
import Tactus
import TactusDaemon

/// What leg 0 is reached by besides its UDP port: a radio, a serial line. Must outlive the loop that they lead to.
final class DaemonLegLinks {
  private let radio: LegRadio?
  private let line: LegLine?

  /// Opens the serial line; nothing is advertised yet.
  init(_ legs: Configuration.Legs, simulate: Bool, logger: Logger) throws {
    radio = try legs.bluetooth.map { try LegRadio($0, simulate: simulate, logger: logger) }
    line = try legs.serial.map { try LegLine($0, simulate: simulate, logger: logger) }
  }

  /// Any thread.
  var reports: [@Sendable () -> LegLinkReport] { [radio?.report, line?.report].compactMap { $0 } }

  /// Those that are simulated.
  var buses: [SimulatedBus] {
    [
      radio?.simulated.map { SimulatedBus("leg-bluetooth", .link($0)) },
      line?.impaired.map { SimulatedBus("leg-serial", .datagram($0)) },
    ].compactMap { $0 }
  }

  /// Appends them to the sockets; what releases the loop besides.
  func append(to ports: inout LegPorts) -> [LoopInput] {
    var inputs: [LoopInput] = []
    if let radio { inputs.append(radio.append(to: &ports)) }
    if let line { inputs.append(line.append(to: &ports)) }
    return inputs
  }

  /// When the loop runs.
  func start() { radio?.start() }

  /// When the loop has ended, and every leg is off: it may take some seconds.
  func stop() { radio?.stop() }

  /// Once a second: what the loop cannot mend.
  func mend(_ logger: Logger) { line?.mend(logger) }
}
