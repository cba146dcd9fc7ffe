import BluetoothBlueZ
import Buses
import BusesLinux
import Logging
import Pump
import Service
import Tactus
import TactusDaemon

/// The ways by which others operate a pump that is this machine's: a serial line, a radio. Must outlive the loop that owns
/// their links.
final class PumpDeviceLinks {
  private enum Line {
    case real(LinuxSerialPort)
    case simulated(LinuxPTY)
  }
  private enum Radio {
    case simulated(SimulatedMessageLink)
    #if Bluetooth
      case real(MessageLink, BluetoothPeripheral)
    #endif
  }

  private let path: String?
  private let line: Line?
  private let radio: Radio?
  private let adapter: String?
  private var mender: LineMender?

  /// Opens the line; nothing is advertised before `start`. A simulated line can be opened by any program; the log says where.
  ///
  /// - Throws: `BusOpenError`, `RuntimeError`.
  init(_ pump: Configuration.Pump, simulate: Bool, logger: Logger) throws {
    let isSimulated = simulate || pump.backend == .sim
    adapter = pump.own.bluetooth?.adapter
    switch (pump.device, isSimulated) {
    case (nil, _): (line, path) = (nil, nil)
    case (_?, true):
      let terminal = try LinuxPTY()
      (line, path) = (.simulated(terminal), terminal.path)
      logger.info("the pump's line is simulated", metadata: ["system": "pump", "device": .string(terminal.path)])
    case (let device?, false):
      let port = try LinuxSerialPort(path: device, baudRate: pump.baud)
      mender = LineMender(port)
      (line, path) = (.real(port), device)
    }
    guard let bluetooth = pump.own.bluetooth else {
      radio = nil
      return
    }
    if isSimulated {
      radio = .simulated(try SimulatedMessageLink(clock: .monotonic))
    } else {
      #if Bluetooth
        let link = try MessageLink(capacity: 64)
        let peripheral = try BluetoothPeripheral(
          .serialModule, name: bluetooth.name, adapter: bluetooth.adapter, link: link
        ) { state in
          logger.log(
            level: state.reason == nil ? .info : .warning, "Bluetooth",
            metadata: ["system": "pump", "state": "\(state)"])
        }
        radio = .real(link, peripheral)
      #else
        preconditionFailure("the configuration let through a radio that this program cannot drive")
      #endif
    }
  }

  /// What releases the loop.
  var loopInputs: [LoopInput] {
    var inputs: [LoopInput] = []
    switch line {
    case .real(let port)?: inputs.append(.descriptor(port.descriptor))
    case .simulated(let terminal)?: inputs.append(.descriptor(terminal.descriptor))
    case nil: break
    }
    switch radio {
    case .simulated(let link)?: inputs.append(link.input)
    #if Bluetooth
      case .real(let link, _)?: inputs.append(link.input)
    #endif
    case nil: break
    }
    return inputs
  }

  /// For the one loop that owns it, or `nil` if there is no such line.
  func serial() -> PumpLink? {
    switch line {
    case .real(let port)?: PumpLink(serial: port.port())
    case .simulated(let terminal)?: PumpLink(serial: terminal.port())
    case nil: nil
    }
  }

  /// For the same loop, or `nil` if there is no radio.
  func bluetooth() -> PumpLink? {
    switch radio {
    case .simulated(let link)?: return PumpLink(messages: link.port(), control: link.control())
    #if Bluetooth
      case .real(let link, _)?: return PumpLink(messages: link.port(), control: link.control())
    #endif
    case nil: return nil
    }
  }

  /// Any thread.
  var reports: @Sendable () -> [PumpLinkReport] {
    let serial = path.map { PumpLinkReport(.serial, device: $0) }
    let adapter = adapter
    switch radio {
    case nil: return { [serial].compactMap(\.self) }
    case .simulated(let link)?:
      return {
        [
          serial,
          PumpLinkReport(.bluetooth, device: adapter, state: link.isUp ? "connected" : "advertising"),
        ].compactMap(\.self)
      }
    #if Bluetooth
      case .real(_, let peripheral)?:
        return {
          let state = peripheral.state
          return [serial, PumpLinkReport(.bluetooth, device: adapter, state: state.word, reason: state.reason)]
            .compactMap(\.self)
        }
    #endif
    }
  }

  /// Those that are simulated.
  var buses: [SimulatedBus] {
    guard case .simulated(let link)? = radio else { return [] }
    return [SimulatedBus("pump-bluetooth", .link(link))]
  }

  /// When the loop runs.
  func start() {
    #if Bluetooth
      if case .real(_, let peripheral)? = radio { peripheral.start() }
    #endif
  }

  /// Disconnects who is connected and withdraws the service: some milliseconds, or some seconds with a bluetoothd that does
  /// not answer. Once, after `start`.
  func stop() {
    #if Bluetooth
      if case .real(_, let peripheral)? = radio { peripheral.stop() }
    #endif
  }

  /// Once a second: see `LineMender`.
  func mend(isDown: Bool) throws(BusOpenError) -> Bool { try mender?.mend(isDown: isDown) ?? false }
}

#if Bluetooth
  extension BluetoothPeripheralState {
    /// For programs.
    fileprivate var word: String {
      switch self {
      case .starting: "starting"
      case .waiting: "waiting"
      case .refused: "refused"
      case .advertising: "advertising"
      case .connected: "connected"
      case .stopped: "stopped"
      }
    }

    /// Why nobody can connect, or `nil` if one can, or is.
    fileprivate var reason: String? {
      switch self {
      case .waiting(let absence): "\(absence)"
      case .refused: "\(self)"
      case .starting, .advertising, .connected, .stopped: nil
      }
    }
  }
#endif
