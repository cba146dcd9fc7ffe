import Buses
import BusesLinux
import Leg
import Logging
import Service
import Synchronization
import Tactus
import TactusDaemon

/// A leg's serial line, a real one or a pseudo-terminal of this program. Must outlive the loop that it leads to.
///
/// A device that is unplugged is opened again as soon as it is back.
final class LegLine {
  private enum Device {
    case real(LinuxSerialPort)
    case simulated(LinuxPTY, ImpairedDatagrams)
  }

  /// It is `nil` if the device is there.
  private final class Absence: Sendable {
    let reason = Mutex<String?>(nil)
  }

  private let path: String
  private let device: Device
  private let link: LegSerialLink
  private let absence = Absence()

  /// Opens the line. A simulated one can be opened by any program; the log says where.
  init(_ serial: Configuration.Legs.SerialLine, simulate: Bool, logger: Logger) throws(BusOpenError) {
    if simulate {
      let terminal = try LinuxPTY()
      link = LegSerialLink(terminal.port())
      device = .simulated(terminal, ImpairedDatagrams(link.port(descriptor: terminal.descriptor), clock: .monotonic))
      path = terminal.path
      logger.info("the leg's serial line is simulated", metadata: ["system": "leg", "device": .string(path)])
    } else {
      let line = try LinuxSerialPort(path: serial.path, baudRate: serial.baudRate)
      link = LegSerialLink(line.port())
      device = .real(line)
      path = line.path
    }
  }

  /// What stands between the line and the loop; nil when the line is real.
  var impaired: ImpairedDatagrams? {
    if case .simulated(_, let impaired) = device { impaired } else { nil }
  }

  /// Any thread.
  var report: @Sendable () -> LegLinkReport {
    { [absence, path, link] in
      let reason = absence.reason.withLock { $0 }
      return LegLinkReport(
        .serial, reason == nil ? .open : .gone, device: path, reason: reason,
        lost: UInt64(clamping: link.counters.refused))
    }
  }

  /// The next link of `ports`, to leg 0. What releases the loop.
  func append(to ports: inout LegPorts) -> LoopInput {
    switch device {
    case .real(let line):
      ports.append(.serial, link.port(descriptor: line.descriptor), of: 0)
      return .descriptor(line.descriptor)
    case .simulated(let terminal, let impaired):
      ports.append(.serial, impaired.port(), of: 0)
      return .descriptor(terminal.descriptor)
    }
  }

  /// Once a second: what the loop cannot mend.
  func mend(_ logger: Logger) {
    guard case .real(let line) = device else { return }
    let isMissed = absence.reason.withLock { $0 != nil }
    do throws(BusOpenError) {
      if isMissed {
        try line.reopen()
        link.isBack()
        absence.reason.withLock { $0 = nil }
        logger.notice("the leg's serial line is back", metadata: ["system": "leg", "device": .string(path)])
      } else if link.counters.isGone {
        absence.reason.withLock { $0 = "the device was unplugged; it is opened again as soon as it is back" }
        logger.error("the leg's serial line is gone", metadata: ["system": "leg", "device": .string(path)])
        try line.detach()
      }
    } catch {
      absence.reason.withLock { $0 = "\(error)" }
    }
  }
}
