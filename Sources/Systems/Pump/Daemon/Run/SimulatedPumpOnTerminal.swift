import Buses
import BusesLinux
import Pump
import Tactus

/// The device side of a pump in a simulated world, on a pseudo-terminal and in real time. It must outlive its loop.
final class SimulatedPumpOnTerminal {
  let terminal: LinuxPTY
  let world: PumpWorld
  private let mailbox: PumpMailbox
  private var notices: RingReader<Told<PumpNotice>>

  init(_ settings: PumpDeviceSettings, _ parameters: PumpWorld.Parameters) throws {
    mailbox = try PumpMailbox(own: settings)
    terminal = try LinuxPTY()
    world = PumpWorld(parameters)
    notices = mailbox.noticeReader()
  }

  /// Builds the loop; call it only once. `bell` is rung when there are notices.
  func loop(_ name: String, bell: DoorbellButton? = nil) -> Loop {
    Loop(
      name, every: PumpDeviceLoop.rate, safeStateAfter: 10, counting: .injected(nil),
      inputs: [.descriptor(terminal.descriptor)],
      minimumInterval: .milliseconds(5)
    ) {
      PumpDeviceLoop(
        mailbox.loopEnds(bell: bell), link: PumpLink(serial: terminal.port()), motor: world.motor(),
        inputs: world.inputs())
    }.unrecorded()
  }

  var newest: PumpDeviceSnapshot { mailbox.state.newest.state.own ?? PumpDeviceSnapshot() }

  /// Returns a line of text for each change since the last call.
  func takeNews() -> [String] {
    var lines: [String] = []
    while let told = notices.pop() {
      switch told.notice {
      case .own(let state, _): lines.append("pump: \(state)")
      case .outputFails(let error): lines.append("pump: the motor's output fails: \(error)")
      case .state, .contact, .failed: break
      }
    }
    return lines
  }
}
