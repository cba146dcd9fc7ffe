import Buses
import Devices
import Tactus
import TactusDaemon

/// The simulated kettle, at 20 Hz: a small mash that warms by 2 °C a second at full power.
struct KettleTwin: ~Copyable, ControlLoop, NoOutput {
  private let duty: SimulatedPWMDuty
  private let isDry, isBroken: FaultSwitch
  private let mash: MAX31865SimulatedThermometer
  private var level: SimulatedGPIODriver
  private var celsius = 20.0

  init(heater: PWMPart, level: InputPart, thermometer: SPIPart, isDry: FaultSwitch, isBroken: FaultSwitch) {
    let converter = MAX31865Simulator(celsius: 20)
    thermometer.attach(converter.chip)
    mash = converter.thermometer
    duty = heater.duty
    (self.isDry, self.isBroken) = (isDry, isBroken)
    self.level = level.driver()
  }

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    celsius += (duty.ratio() * 2 - (celsius - 20) * 0.002) * 0.05
    if isBroken.isOn() { mash.setOpen() } else { mash.set(celsius: celsius) }
    _ = level.set(isHigh: isDry.isOn(), at: tick.started)
  }
}
