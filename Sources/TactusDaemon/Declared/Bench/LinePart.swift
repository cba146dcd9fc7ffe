import Buses
import BusesLinux
import Logging
import Synchronization
import Tactus

/// A serial line that a bench has opened as a link. The bench keeps it alive.
public final class LinePart: BenchLink {
  private enum End {
    case real(LinuxSerialPort)
    case terminal(LinuxPTY)
    /// An end that leads nowhere, in simulated time and while planning.
    case nowhere(SimulatedSerialPort)
  }

  /// The functions that report whether the loop found the device unplugged, and that notify the loop of its return.
  public struct Watch: Sendable {
    let isGone: @Sendable () -> Bool
    let isBack: @Sendable () -> Void

    /// Creates a watch.
    ///
    /// - Parameters:
    ///   - isGone: returns whether the last attempt found the device unplugged. Called from any thread.
    ///   - isBack: called when the device is present again. Called from any thread.
    public init(isGone: @escaping @Sendable () -> Bool, isBack: @escaping @Sendable () -> Void) {
      (self.isGone, self.isBack) = (isGone, isBack)
    }
  }

  /// Holds the reason why the device is missing, or `nil` if the device is present.
  private final class Absence: Sendable {
    let reason = Mutex<String?>(nil)
  }

  private let end: End
  private let system: String
  let isReal: Bool
  private let absence = Absence()
  /// The watch through which an unplugged device is noticed, or `nil` if the line is never reopened.
  public var watch: Watch?

  init(_ device: String, baud: Int, isReal: Bool, _ parts: BenchParts) throws(BusOpenError) {
    (system, self.isReal) = (parts.at.name, isReal)
    if isReal {
      end = .real(try LinuxSerialPort(path: device, baudRate: baud))
    } else if parts.mode == .simulated, parts.clock == .monotonic {
      let terminal = try LinuxPTY()
      end = .terminal(terminal)
      parts.logger?.info(
        "the serial line is simulated", metadata: ["system": .string(system), "device": .string(terminal.path)])
    } else {
      end = .nowhere(SimulatedSerialPort(clock: parts.clock, isRead: false))
    }
  }

  /// Returns the port for the loop that owns the line.
  public func port() -> SerialPort {
    switch end {
    case .real(let line): line.port()
    case .terminal(let terminal): terminal.port()
    case .nowhere(let port): port.port()
    }
  }

  /// A descriptor that polls readable when bytes have arrived, or `nil` in simulated time, where none exists.
  public var descriptor: Int32? {
    switch end {
    case .real(let line): line.descriptor
    case .terminal(let terminal): terminal.descriptor
    case .nowhere: nil
    }
  }

  /// The input that releases the loop when bytes arrive; empty in simulated time.
  public var loopInputs: [LoopInput] { descriptor.map { [.descriptor($0)] } ?? [] }

  private var device: String? {
    switch end {
    case .real(let line): line.path
    case .terminal(let terminal): terminal.path
    case .nowhere: nil
    }
  }

  /// A function that returns a report on the line without the number of lost messages. It may be called from any thread.
  public var report: @Sendable () -> LinkReport {
    { [absence, device] in
      let reason = absence.reason.withLock { $0 }
      return LinkReport(reason == nil ? .open : .gone, device: device, reason: reason)
    }
  }

  func start() {}
  func stop() {}

  func mend(_ logger: Logger) {
    guard case .real(let line) = end, let watch else { return }
    let metadata: Logger.Metadata = ["system": .string(system), "device": .string(line.path)]
    let isMissed = absence.reason.withLock { $0 != nil }
    do throws(BusOpenError) {
      if isMissed {
        try line.reopen()
        watch.isBack()
        absence.reason.withLock { $0 = nil }
        logger.notice("the serial line is back", metadata: metadata)
      } else if watch.isGone() {
        absence.reason.withLock { $0 = "the device was unplugged; it is opened again as soon as it is back" }
        logger.error("the serial line is gone", metadata: metadata)
        try line.detach()
      }
    } catch {
      absence.reason.withLock { $0 = "\(error)" }
    }
  }
}
