import Buses
import BusesLinux
import Pump
import Tactus

/// The pump's line of a configuration: a real one, or a pseudo-terminal with a simulated pump at its other end. Must outlive
/// the loops.
final class PumpHardware {
  let line: LinuxSerialPort
  /// nil when the pump is real.
  let simulated: SimulatedPumpOnTerminal?

  /// Opens the line, or makes one. Nothing is written yet.
  init(_ pump: Configuration.Pump, simulate: Bool) throws(BusOpenError) {
    guard simulate || pump.backend == .sim else {
      // Not exclusive: the guard has it open, too.
      line = try LinuxSerialPort(path: pump.device, baudRate: pump.baud, exclusive: false)
      simulated = nil
      return
    }
    let simulated = try SimulatedPumpOnTerminal(.standard, PumpWorld.Parameters())
    self.simulated = simulated
    line = try LinuxSerialPort(path: simulated.terminal.path, baudRate: pump.baud)
  }
}

/// The device side of a pump in a simulated world, on a pseudo-terminal and in real time. Must outlive its loop.
final class SimulatedPumpOnTerminal {
  let terminal: LinuxPTY
  let world: PumpWorld
  private let settings: PumpDeviceSettings
  private let requests = Ring<PumpDeviceRequest>(capacity: PumpDeviceLoop.requestsPerTick)
  private let answers = Ring<PumpAnswer>(capacity: PumpDeviceLoop.requestsPerTick)
  private let snapshot = Latest(PumpDeviceSnapshot())
  private let noticeRing = Ring<PumpDeviceNotice>(capacity: 64)
  private var notices: RingReader<PumpDeviceNotice>

  init(_ settings: PumpDeviceSettings, _ parameters: PumpWorld.Parameters) throws(BusOpenError) {
    self.settings = settings
    terminal = try LinuxPTY()
    world = PumpWorld(parameters)
    notices = noticeRing.reader()
  }

  /// To be built once. `bell` is rung when there is news.
  func loop(_ name: String, bell: DoorbellButton? = nil) -> Loop {
    Loop(
      name, every: PumpDeviceLoop.rate, safeStateAfter: 10, inputs: [.descriptor(terminal.descriptor)],
      minimumInterval: .milliseconds(5)
    ) {
      PumpDeviceLoop(
        settings, link: PumpLink(serial: terminal.port()), motor: world.motor(), inputs: world.inputs(),
        requests: requests.reader(), answers: answers.writer(), snapshot: snapshot.writer(),
        notices: noticeRing.writer(), bell: bell)
    }
  }

  var newest: PumpDeviceSnapshot {
    var reader = snapshot.reader()
    return reader.read()
  }

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
