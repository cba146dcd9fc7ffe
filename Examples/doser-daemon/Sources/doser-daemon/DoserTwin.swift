import Buses
import Tactus
import TactusDaemon

/// The simulated pump, at 1 kHz: a canister that holds a litre, a hose that may be kinked, and a sensor behind it.
struct DoserTwin: ~Copyable, ControlLoop, NoOutput {
  private let step: SimulatedGPIOLevel
  private let enable: SimulatedGPIOLevel
  private var flow: SimulatedGPIODriver
  private var float: SimulatedGPIODriver
  private let isKinked: FaultSwitch
  private let isEmpty: FaultSwitch
  /// The sensor's pulses for each step.
  private let pulses: Double
  private var wasHigh = false
  private var due = 0.0

  init(
    step: OutputPart, enable: OutputPart, flow: InputPart, float: InputPart, isKinked: FaultSwitch,
    isEmpty: FaultSwitch,
    pulses: Double
  ) {
    (self.step, self.enable) = (step.level, enable.level)
    self.flow = flow.driver()
    self.float = float.driver()
    (self.isKinked, self.isEmpty, self.pulses) = (isKinked, isEmpty, pulses)
  }

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    let isHigh = step.isActive() && enable.isActive()
    if isHigh && !wasHigh && !isKinked.isOn() && !isEmpty.isOn() { due += pulses }
    wasHigh = isHigh
    // A pulse is high for one tick at least.
    let pulse = due >= 1
    if pulse { due -= 1 }
    _ = flow.set(isHigh: pulse, at: tick.started)
    _ = float.set(isHigh: !isEmpty.isOn(), at: tick.started)
  }
}
