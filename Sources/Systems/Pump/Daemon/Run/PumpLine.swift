import BluetoothBlueZ
import Buses
import BusesLinux
import Pump
import Service
import Tactus

/// What leads to a pump: a serial line, or a connection by Bluetooth. Must outlive the loop that owns its link.
final class PumpLine {
  private enum End {
    case serial(LinuxSerialPort)
    #if Bluetooth
      case bluetooth(MessageLink, BluetoothCentral)
    #endif
  }

  /// News of the way to the pump, for a log.
  struct News: Sendable {
    var text: String
    /// The pump cannot be reached.
    var isTrouble: Bool
  }

  let address: PumpAddress
  private let end: End
  private var mender: LineMender?

  /// Opens a serial line; a connection by Bluetooth is made when the loop asks for it, after `start`.
  ///
  /// - Parameters:
  ///   - baud: of a serial line.
  ///   - exclusive: false leaves the serial line open to others: the guard has it open, too.
  ///   - tell: news of a connection by Bluetooth. Any thread.
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
        // A STATUS comes in five messages.
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

  /// What releases the loop.
  var input: LoopInput {
    switch end {
    case .serial(let line): .descriptor(line.descriptor)
    #if Bluetooth
      case .bluetooth(let link, _): link.input
    #endif
    }
  }

  /// For the one loop that owns it, and once more when that loop has ended.
  func link() -> PumpLink {
    switch end {
    case .serial(let line): PumpLink(serial: line.port())
    #if Bluetooth
      case .bluetooth(let link, _): PumpLink(messages: link.port(), control: link.control())
    #endif
    }
  }

  /// How long a pump may take to be found and to answer for the first time.
  var patience: Nanoseconds {
    if case .serial = end { .seconds(5) } else { .seconds(40) }
  }

  /// When the loop runs.
  func start() {
    #if Bluetooth
      if case .bluetooth(_, let central) = end { central.start() }
    #endif
  }

  /// Ends a connection by Bluetooth. Once, after `start`, when the loop has ended.
  func stop() {
    #if Bluetooth
      if case .bluetooth(_, let central) = end { central.stop() }
    #endif
  }

  /// What is wrong with the way to the pump, for people, or `nil` if nothing that is known. Any thread.
  var trouble: String? {
    #if Bluetooth
      if case .bluetooth(_, let central) = end { return central.state.trouble }
    #endif
    return nil
  }

  /// Any thread.
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

  /// Once a second: see `LineMender`.
  func mend(isDown: Bool) throws(BusOpenError) -> Bool { try mender?.mend(isDown: isDown) ?? false }
}

#if Bluetooth
  extension BluetoothCentralState {
    /// For programs.
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
