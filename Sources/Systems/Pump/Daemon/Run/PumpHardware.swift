import Buses
import BusesLinux
import Pump
import Service
import Tactus
import TactusDaemon

/// The way to the pump of a configuration: a real one, or a pseudo-terminal with a simulated pump at its other end. Must outlive
/// the loops.
final class PumpHardware {
  /// A simulated pump, and our end of the line to it.
  struct Simulated {
    let pump: SimulatedPumpOnTerminal
    let line: LinuxSerialPort
    /// What stands between that line and the loop.
    let impaired: ImpairedSerialPort
    let stall: LaneStall
  }

  private enum Way {
    case real(PumpLine)
    case simulated(Simulated)
  }

  private let way: Way

  /// Opens the line, or makes one. Nothing is written yet.
  ///
  /// - Parameter tell: see `PumpLine`.
  init(
    _ pump: Configuration.Pump, simulate: Bool, tell: @escaping @Sendable (PumpLine.News) -> Void
  ) throws {
    if simulate || pump.backend == .sim {
      let simulated = try SimulatedPumpOnTerminal(.standard, PumpWorld.Parameters())
      let line = try LinuxSerialPort(path: simulated.terminal.path, baudRate: pump.baud)
      let stall = LaneStall()
      way = .simulated(
        Simulated(
          pump: simulated, line: line,
          impaired: ImpairedSerialPort(line.port(), clock: .monotonic, stall: stall.served), stall: stall))
    } else {
      // Not exclusive: the guard has it open, too.
      way = .real(try PumpLine(pump.address, baud: pump.baud, exclusive: false, tell: tell))
    }
  }

  /// It is `nil` if the pump is simulated.
  var real: PumpLine? {
    if case .real(let line) = way { line } else { nil }
  }

  /// It is `nil` if the pump is real.
  var simulated: Simulated? {
    if case .simulated(let simulated) = way { simulated } else { nil }
  }

  /// For people.
  var name: String {
    switch way {
    case .real(let line): "\(line.address)"
    case .simulated: "simulated"
    }
  }

  /// What releases the operator's loop.
  var input: LoopInput {
    switch way {
    case .real(let line): line.input
    case .simulated(let simulated): .descriptor(simulated.line.descriptor)
    }
  }

  /// For the one loop that owns it.
  func link() -> PumpLink {
    switch way {
    case .real(let line): line.link()
    case .simulated(let simulated): PumpLink(serial: simulated.impaired.port())
    }
  }

  /// Any thread.
  var report: @Sendable () -> PumpLinkReport {
    switch way {
    case .real(let line): line.report
    case .simulated: { PumpLinkReport(.simulated) }
    }
  }
}

/// The device side of a pump in a simulated world, on a pseudo-terminal and in real time. Must outlive its loop.
final class SimulatedPumpOnTerminal {
  let terminal: LinuxPTY
  let world: PumpWorld
  private let settings: PumpDeviceSettings
  private let channel = PumpDeviceLoop.channel()
  private var notices: RingReader<PumpDeviceNotice>

  init(_ settings: PumpDeviceSettings, _ parameters: PumpWorld.Parameters) throws(BusOpenError) {
    self.settings = settings
    terminal = try LinuxPTY()
    world = PumpWorld(parameters)
    notices = channel.noticeReader()
  }

  /// To be built once. `bell` is rung when there is news.
  func loop(_ name: String, bell: DoorbellButton? = nil) -> Loop {
    Loop(
      name, every: PumpDeviceLoop.rate, safeStateAfter: 10, counting: .injected(nil),
      inputs: [.descriptor(terminal.descriptor)],
      minimumInterval: .milliseconds(5)
    ) {
      PumpDeviceLoop(
        RulesBox(settings).input(), link: PumpLink(serial: terminal.port()), motor: world.motor(),
        inputs: world.inputs(), channel: channel.loopEnds(bell: bell))
    }
  }

  var newest: PumpDeviceSnapshot { channel.state.newest }

  /// What happened since the last call.
  func takeNews() -> [String] {
    var lines: [String] = []
    while let notice = notices.pop() {
      switch notice.subject {
      case .state(let state): lines.append("pump: \(state)")
      case .outputFails(let error): lines.append("pump: the motor's output fails: \(error)")
      }
    }
    return lines
  }
}
