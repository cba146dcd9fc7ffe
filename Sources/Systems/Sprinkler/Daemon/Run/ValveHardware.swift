import Buses
import BusesLinux
import Sprinkler
import TactusDaemon

/// The valves' lines and the flow sensor's of a configuration, real or simulated. Must outlive the loop that drives them.
final class ValveHardware {
  /// Held as long as the daemon lives; nil when simulated.
  let heldLines: LinuxGPIOLines?
  /// nil when the lines are real.
  let simulatedBank: SimulatedGPIOBank?
  private let simulatedLines: SimulatedGPIOLines?
  private let flow: LinuxGPIOEvents?
  private let simulatedFlow: SimulatedGPIOEvents?

  /// Requests every line off, in one step. Nothing is opened.
  ///
  /// - Throws: `HeaderLineError`, `GPIORequestError`.
  init(_ sprinkler: Configuration.Sprinkler, simulate: Bool) throws {
    let input = sprinkler.flowPin.map { pin in
      GPIOInput(sprinkler.name(pin), edges: .falling, pull: sprinkler.sensor.pull.ofLine)
    }
    if simulate || sprinkler.backend == .sim {
      let bank = SimulatedGPIOBank(
        count: max(54, (sprinkler.pins.max() ?? 0) + 1 > 54 ? 64 : 54), clock: .monotonic)
      simulatedBank = bank
      simulatedLines = try bank.outputs(sprinkler.lines)
      simulatedFlow = try input.map { try bank.events([$0]) }
      (heldLines, flow) = (nil, nil)
    } else {
      heldLines = try HeaderLines.request(sprinkler.lines)
      flow = try input.map { try LinuxGPIOEvents([$0]) }
      (simulatedBank, simulatedLines, simulatedFlow) = (nil, nil, nil)
    }
  }

  /// For the one loop that drives them.
  func lines() -> GPIOLines { heldLines?.port() ?? simulatedLines!.port() }

  /// For the same loop, or `nil` if there is no sensor.
  func flowEvents() -> GPIOEvents? {
    if let flow { return flow.port() }
    if let simulatedFlow { return simulatedFlow.port() }
    return nil
  }
}
