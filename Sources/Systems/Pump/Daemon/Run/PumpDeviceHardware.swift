import Buses
import BusesLinux
import Devices
import Pump
import Tactus
import TactusDaemon

/// The motor, the button and the sensors of a pump in the device role, real or simulated. The bench owns the opened devices.
struct PumpDeviceHardware {
  private enum Parts {
    case opened(PWMPart, PumpHardwareInputs, InputPart?)
    case simulated(PumpWorld)
  }

  private let parts: Parts

  /// Opens all devices. Nothing is written to the motor; the sensors have been read once, if they answer.
  init(_ bench: Bench<Pump.Wiring>) throws {
    let wiring = bench.wiring
    guard !bench.isSimulated else {
      var parameters = PumpWorld.Parameters()
      parameters.hasWaterSensor = wiring.backend == .sim || wiring.waterChannel != nil
      parameters.hasSkinSensor = wiring.backend == .sim || wiring.skinChannel != nil
      parameters.hasPot = wiring.potChannel != nil
      let world = PumpWorld(parameters)
      bench.keep(world)
      parts = .simulated(world)
      return
    }
    let motor = try bench.pwm(wiring.motor, of: \.pwmChannel, period: wiring.pwmPeriod, safe: .inactive)
    let converter = wiring.converter
    let bus = try converter.map {
      try bench.i2c(
        \.i2cBus, chip: $0.chip.address, safe: .none(because: "the converter is only read"),
        operations: [.writeBlock, .readBlock], key: "pump.adc.i2c_address")
    }
    let button = try wiring.buttonInput.map { try bench.edges($0, of: \.button) }
    let inputs = PumpHardwareInputs(converter, on: bus?.port(), button: button?.port())
    if !bench.isPlanning { try inputs.prime() }
    bench.keep(inputs)
    parts = .opened(motor, inputs, button)
  }

  /// The simulated world, or `nil` if the hardware is real.
  var world: PumpWorld? {
    if case .simulated(let world) = parts { world } else { nil }
  }

  /// The descriptors that release the loop; empty if there is no button or the hardware is simulated.
  var loopInputs: [LoopInput] {
    if case .opened(_, _, let button?) = parts { button.loopInputs } else { [] }
  }

  /// Returns the motor's output, for exactly one loop.
  func motor() -> PWMOutput {
    switch parts {
    case .opened(let motor, _, _): motor.port()
    case .simulated(let world): world.motor()
    }
  }

  /// Returns the pump's inputs, for the loop that has the motor.
  func inputs() -> PumpInputs {
    switch parts {
    case .opened(_, let inputs, _): inputs.inputs()
    case .simulated(let world): world.inputs()
    }
  }
}
