import Buses
import Devices
import Tactus
import TactusDaemon

/// The simulated fan, at 200 Hz: a box that warms by itself, and a rotor that somebody may hold.
struct FanTwin: ~Copyable, ControlLoop, NoOutput {
  private let duty: SimulatedPWMDuty
  private let isHeld: FaultSwitch
  private var tachometer: TachometerSimulator
  private var thermistor: ThermistorSimulator
  private var celsius = 45.0
  private var rpm = 0.0

  init(motor: PWMPart, tachometer: InputPart, bus: I2CPart, isHeld: FaultSwitch) {
    let converter = ADS1115Simulator()
    bus.attach(converter.chip, at: ADS1115.standardAddress)
    duty = motor.duty
    self.isHeld = isHeld
    self.tachometer = TachometerSimulator(tachometer.driver())
    thermistor = ThermistorSimulator(converter, channel: 0, celsius: celsius)
  }

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    let ratio = duty.ratio()
    let wanted = isHeld.isOn() || ratio < 0.1 ? 0 : ratio * 3_000
    rpm += (wanted - rpm) * 0.02
    if rpm < 30 { rpm = 0 }
    celsius += (0.5 - rpm / 3_000) * 0.005
    tachometer.step(rpm: rpm, at: tick.started)
    thermistor.set(celsius: celsius)
  }
}
