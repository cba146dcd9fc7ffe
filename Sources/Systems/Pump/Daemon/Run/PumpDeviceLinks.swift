import BluetoothBlueZ
import Buses
import BusesLinux
import Logging
import Pump
import Service
import Tactus
import TactusDaemon

/// The links by which operators reach a pump in the device role: a serial line and a Bluetooth radio. It must outlive the loop that uses the links.
final class PumpDeviceLinks: OwnLink {
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

  /// Opens the serial line; nothing is advertised before `start`. A simulated line can be opened by any program; the log contains its path.
  init(_ bench: Bench<Pump.Wiring>) throws {
    let (wiring, logger) = (bench.wiring, bench.logger)
    adapter = wiring.bluetoothAdapter
    if !bench.isSimulated {
      if let device = wiring.device { bench.claim(.serial(path: device), key: "pump.device") }
      if wiring.hasBluetooth { bench.claim(.radio(adapter: adapter), key: "pump.bluetooth") }
    }
    switch wiring.device {
    case _ where bench.isPlanning, nil: (line, path) = (nil, nil)
    case _? where bench.isSimulated:
      let terminal = try LinuxPTY()
      (line, path) = (.simulated(terminal), terminal.path)
      logger.info("the pump's line is simulated", metadata: ["device": .string(terminal.path)])
    case let device?:
      let port = try bench.opening(\.device) { try LinuxSerialPort(path: device, baudRate: wiring.baud) }
      mender = LineMender(port)
      (line, path) = (.real(port), device)
    }
    guard wiring.hasBluetooth, !bench.isPlanning else {
      radio = nil
      return
    }
    guard !bench.isSimulated else {
      radio = .simulated(try SimulatedMessageLink(clock: .monotonic))
      return
    }
    #if Bluetooth
      let link = try MessageLink(capacity: 64)
      let peripheral = try BluetoothPeripheral(.serialModule, name: wiring.bluetoothName, adapter: adapter, link: link)
      {
        logger.log(level: $0.reason == nil ? .info : .warning, "Bluetooth", metadata: ["state": "\($0)"])
      }
      radio = .real(link, peripheral)
    #else
      preconditionFailure("the configuration let through a radio that this program cannot drive")
    #endif
  }

  /// The descriptors that release the loop.
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

  /// Returns the serial link, for exactly one loop, or `nil` if there is no serial line.
  func serial() -> PumpLink? {
    switch line {
    case .real(let port)?: PumpLink(serial: port.port())
    case .simulated(let terminal)?: PumpLink(serial: terminal.port())
    case nil: nil
    }
  }

  /// Returns the Bluetooth link, for the loop that has the serial link, or `nil` if there is no radio.
  func bluetooth() -> PumpLink? {
    switch radio {
    case .simulated(let link)?: return PumpLink(messages: link.port(), control: link.control())
    #if Bluetooth
      case .real(let link, _)?: return PumpLink(messages: link.port(), control: link.control())
    #endif
    case nil: return nil
    }
  }

  /// Returns the reports of the links; callable from any thread.
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

  /// The simulated buses of the links.
  var buses: [SimulatedBus] {
    guard case .simulated(let link)? = radio else { return [] }
    return [SimulatedBus("pump-bluetooth", .link(link))]
  }

  /// Starts advertising. The function is to be called when the loop runs.
  func start() {
    #if Bluetooth
      if case .real(_, let peripheral)? = radio { peripheral.start() }
    #endif
  }

  /// Disconnects the clients and withdraws the service, which takes some milliseconds, or some seconds if bluetoothd does not answer. Call it once,
  /// after `start`.
  func stop() {
    #if Bluetooth
      if case .real(_, let peripheral)? = radio { peripheral.stop() }
    #endif
  }

  /// Reopens the serial line if necessary. The function is to be called once a second (see `LineMender`).
  func mend(isDown: Bool, _ logger: Logger) { mender?.mend(isDown: isDown, path ?? "", logger) }
}

#if Bluetooth
  extension BluetoothPeripheralState {
    /// The word for the state, for programs.
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

    /// The reason why no client can connect, or `nil` if a client can connect or is connected.
    fileprivate var reason: String? {
      switch self {
      case .waiting(let absence): "\(absence)"
      case .refused: "\(self)"
      case .starting, .advertising, .connected, .stopped: nil
      }
    }
  }
#endif
