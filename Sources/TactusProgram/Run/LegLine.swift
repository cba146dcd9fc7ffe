import Buses
import BusesLinux
import Leg
import Logging
import Service
import Tactus

/// A leg's serial line, a real one or a pseudo-terminal of this program. Must outlive the loop that it leads to.
final class LegLine {
  private let path: String
  private let descriptor: Int32
  private let link: LegSerialLink
  /// What stands between the line and the loop; nil when the line is real.
  let impaired: ImpairedDatagrams?
  /// What the link needs.
  private let owner: AnyObject
  private var wasGone = false

  /// Opens the line. A simulated one can be opened by any program; the log says where.
  init(_ serial: Configuration.Legs.SerialLine, simulate: Bool, logger: Logger) throws(BusOpenError) {
    if simulate {
      let terminal = try LinuxPTY()
      (path, descriptor, owner) = (terminal.path, terminal.descriptor, terminal)
      link = LegSerialLink(terminal.port())
      impaired = ImpairedDatagrams(link.port(descriptor: descriptor))
      logger.info("the leg's serial line is simulated", metadata: ["system": "leg", "device": .string(path)])
    } else {
      let line = try LinuxSerialPort(path: serial.path, baudRate: serial.baudRate)
      (path, descriptor, owner) = (line.path, line.descriptor, line)
      link = LegSerialLink(line.port())
      impaired = nil
    }
  }

  /// Any thread.
  var report: @Sendable () -> LegLinkReport {
    { [link, path] in
      link.counters.isGone
        ? LegLinkReport(.serial, .gone, device: path, reason: "the device was unplugged; start the daemon again")
        : LegLinkReport(.serial, .open, device: path)
    }
  }

  /// The next link of `ports`, to leg 0. What releases the loop.
  func append(to ports: inout LegPorts) -> LoopInput {
    ports.append(.serial, impaired?.port() ?? link.port(descriptor: descriptor), of: 0)
    return .descriptor(descriptor)
  }

  /// Once a second.
  func log(_ logger: Logger) {
    let isGone = link.counters.isGone
    if isGone, !wasGone {
      logger.error("the leg's serial line is gone", metadata: ["system": "leg", "device": .string(path)])
    }
    wasGone = isGone
  }
}
