import BluetoothBlueZ
import Buses
import BusesLinux
import Logging
import Pump
import Service
import Tactus
import TactusDaemon

/// The line to a pump: a serial line or a Bluetooth connection. It must outlive the loop that uses its link.
final class PumpLine: OwnLink {
  private enum End {
    case serial(LinuxSerialPort)
    #if Bluetooth
      case bluetooth(MessageLink, BluetoothCentral)
    #endif
  }

  /// A change of the line's state, for a log.
  struct News: Sendable {
    var text: String
    /// Whether the pump cannot be reached.
    var isTrouble: Bool
  }

  let address: PumpAddress
  private let end: End
  private var mender: LineMender?

  /// Opens a serial line; a Bluetooth connection is made when the loop requests it, after `start`.
  ///
  /// - Parameters:
  ///   - baud: the baud rate of a serial line.
  ///   - exclusive: whether a serial line is closed to other programs; `false` for a line that the guard also has open.
  ///   - tell: called with changes of a Bluetooth connection, on any thread.
  /// - Throws: `BusOpenError`, `RuntimeError`.
  init(
    _ address: PumpAddress, baud: Int, exclusive: Bool = true, tell: @escaping @Sendable (News) -> Void = { _ in }
  ) throws {
    self.address = address
    switch address {
    case .serial(let path):
      let line = try LinuxSerialPort(path: path, baudRate: baud, exclusive: exclusive)
      mender = LineMender(line)
      end = .serial(line)
    case .bluetooth(let place):
      #if Bluetooth
        // A STATUS line arrives in up to five messages.
        let link = try MessageLink(capacity: 64)
        let central = try BluetoothCentral(
          .serialModule, to: place.wanted, adapter: place.adapter, link: link
        ) { state in
          tell(News(text: "\(state)", isTrouble: state.isFailure))
        }
        end = .bluetooth(link, central)
      #else
        preconditionFailure("PumpAddress lets no such address through: \(place)")
      #endif
    }
  }

  /// The descriptor that releases the loop.
  var input: LoopInput {
    switch end {
    case .serial(let line): .descriptor(line.descriptor)
    #if Bluetooth
      case .bluetooth(let link, _): link.input
    #endif
    }
  }

  /// Returns the link. The function may be called once for one loop, and once more after that loop has ended.
  func link() -> PumpLink {
    switch end {
    case .serial(let line): PumpLink(serial: line.port())
    #if Bluetooth
      case .bluetooth(let link, _): PumpLink(messages: link.port(), control: link.control())
    #endif
    }
  }

  /// The longest time that a pump may take to be found and to answer for the first time.
  var patience: Nanoseconds {
    if case .serial = end { .seconds(5) } else { .seconds(40) }
  }

  /// Starts the Bluetooth central. The function is to be called when the loop runs.
  func start() {
    #if Bluetooth
      if case .bluetooth(_, let central) = end { central.start() }
    #endif
  }

  /// Ends a Bluetooth connection. Call it once, after `start`, when the loop has ended.
  func stop() {
    #if Bluetooth
      if case .bluetooth(_, let central) = end { central.stop() }
    #endif
  }

  /// A description of what is wrong with the line, or `nil` if no problem is known. It may be used from any thread.
  var trouble: String? {
    #if Bluetooth
      if case .bluetooth(_, let central) = end { return central.state.trouble }
    #endif
    return nil
  }

  /// Returns the report of the line; callable from any thread.
  var report: @Sendable () -> PumpLinkReport {
    let device = "\(address)"
    switch end {
    case .serial: return { PumpLinkReport(.serial, device: device) }
    #if Bluetooth
      case .bluetooth(_, let central):
        return { PumpLinkReport(.bluetooth, device: device, state: central.state.word, reason: central.state.trouble) }
    #endif
    }
  }

  /// Reopens the serial line if necessary. The function is to be called once a second (see `LineMender`).
  func mend(isDown: Bool, _ logger: Logger) { mender?.mend(isDown: isDown, "\(address)", logger) }
}

#if Bluetooth
  extension BluetoothCentralState {
    /// The word for the state, for programs.
    fileprivate var word: String {
      switch self {
      case .idle: "idle"
      case .scanning: "scanning"
      case .connecting: "connecting"
      case .connected: "connected"
      case .stopped: "stopped"
      }
    }

    fileprivate var isFailure: Bool {
      if case .idle(.some(let failure)) = self { return failure != .asked }
      return false
    }
  }
#endif

/// Sends OFF to a pump after its loop has ended, until the pump confirms that it is off, or for 2 s.
///
/// The type is for the main thread, which may wait.
struct PumpFarewell {
  private static let patience = Nanoseconds.seconds(2)

  let line: PumpLine
  /// Whether the loop had a connection when it ended.
  let isUp: Bool

  /// Sends OFF repeatedly. Returns whether the pump has confirmed that it is off.
  func say() throws(RuntimeError) -> Bool {
    var words = PumpLastWords(line.link(), isUp: isUp)
    // No other thread rings this bell, so each wait ends by the clock.
    let bell = try Doorbell()
    let end = MonotonicClock.now + Self.patience
    while MonotonicClock.now < end {
      if words.step(at: MonotonicClock.now) { return true }
      bell.wait(limit: .milliseconds(10))
    }
    return false
  }
}
