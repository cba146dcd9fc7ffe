import Buses
import BusesLinux
import Pump
import Tactus
import Wire

/// The device side of a pump in a simulated world, on a pseudo-terminal and in real time.
final class PumpOnTerminal {
  private let terminal: LinuxPTY
  private let world: PumpWorld
  private let runtime: Runtime
  private var notices: RingReader<PumpDeviceNotice>

  /// `bell` is rung when there is news.
  init(
    _ settings: PumpDeviceSettings, _ parameters: PumpWorld.Parameters, terminal: LinuxPTY, bell: DoorbellButton
  ) throws {
    let world = PumpWorld(parameters)
    let requests = Ring<PumpDeviceRequest>(capacity: PumpDeviceLoop.requestsPerTick)
    let answers = Ring<PumpAnswer>(capacity: PumpDeviceLoop.requestsPerTick)
    let snapshot = Latest(PumpDeviceSnapshot())
    let notices = Ring<PumpDeviceNotice>(capacity: 64)
    runtime = try Runtime {
      Lane("pump") {
        Loop(
          "pump", every: PumpDeviceLoop.rate, inputs: [.descriptor(terminal.descriptor)],
          minimumInterval: .milliseconds(5)
        ) {
          PumpDeviceLoop(
            settings, link: PumpLink(serial: terminal.port()), motor: world.motor(), inputs: world.inputs(),
            requests: requests.reader(), answers: answers.writer(), snapshot: snapshot.writer(),
            notices: notices.writer(), bell: bell)
        }
      }
    }
    self.terminal = terminal
    self.world = world
    self.notices = notices.reader()
  }

  func start() throws(RuntimeError) { try runtime.start() }
  func stop() { runtime.stop() }

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
