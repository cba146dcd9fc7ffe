import Buses
import BusesLinux
import Devices
import Pump
import Tactus
import TactusDaemon

/// The motor, the button and the sensors of a pump that is this machine's, real or simulated. Must outlive the loop.
final class PumpDeviceHardware {
  private enum Parts {
    case real(LinuxPWMOutput, PumpHardwareInputs, LinuxI2CBus?, LinuxGPIOEvents?)
    case simulated(PumpWorld)
  }

  private let parts: Parts

  /// Opens everything. The motor gets nothing; the sensors have been read once, if they answer.
  ///
  /// - Throws: `BusOpenError`, `GPIORequestError`, `HeaderLineError`, `RuntimeError`.
  init(_ pump: Configuration.Pump, simulate: Bool) throws {
    let own = pump.own
    if simulate || pump.backend == .sim {
      var parameters = PumpWorld.Parameters()
      parameters.hasWaterSensor = pump.backend == .sim || own.waterChannel != nil
      parameters.hasSkinSensor = pump.backend == .sim || own.skinChannel != nil
      parameters.hasPot = own.potChannel != nil
      parts = .simulated(PumpWorld(parameters))
      return
    }
    let motor = try LinuxPWMOutput(chip: own.pwmChip, channel: own.pwmChannel, period: own.pwmPeriod)
    let converter = own.converter
    let bus = try converter.map { _ in try LinuxI2CBus(number: own.i2cBus, operations: [.writeBlock, .readBlock]) }
    if let bus, let converter { try bus.claim(converter.chip.address) }
    let button = try own.buttonInput.map { try LinuxGPIOEvents([$0]) }
    let inputs = PumpHardwareInputs(converter, on: bus?.port(), button: button?.port())
    try inputs.prime()
    parts = .real(motor, inputs, bus, button)
  }

  /// It is `nil` if it is real.
  var world: PumpWorld? {
    if case .simulated(let world) = parts { world } else { nil }
  }

  /// What releases the loop; empty: nothing of these.
  var loopInputs: [LoopInput] {
    guard case .real(_, _, _, let button?) = parts else { return [] }
    return [.descriptor(button.descriptor)]
  }

  /// For the one loop that owns it.
  func motor() -> PWMOutput {
    switch parts {
    case .real(let motor, _, _, _): motor.port()
    case .simulated(let world): world.motor()
    }
  }

  /// For the same loop.
  func inputs() -> PumpInputs {
    switch parts {
    case .real(_, let inputs, _, _): inputs.inputs()
    case .simulated(let world): world.inputs()
    }
  }
}
