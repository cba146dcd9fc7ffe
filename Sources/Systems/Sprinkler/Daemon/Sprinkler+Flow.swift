import Buses
import Tactus
import TactusDaemon

/// The simulated flow sensor: each open valve on a line of the header lets 10 l/min through. A master valve does not hold it back.
struct SimulatedFlow: ~Copyable, ControlLoop, NoOutput {
  private static var litresPerMinute: Double {
    @_noLocks @_noAllocation get { 10 }
  }
  private static var burstLitresPerMinute: Double {
    @_noLocks @_noAllocation get { 100 }
  }
  /// More edges than this are lost in one tick, as a kernel loses them for a slow reader.
  private static var mostEdges: Int {
    @_noLocks @_noAllocation get { 1_000 }
  }

  private var driver: SimulatedGPIODriver
  private let valves: [SimulatedGPIOLevel]
  private let pulsesPerLitre: Double
  private let isDry: FaultSwitch
  private let isBurst: FaultSwitch
  /// The part of a pulse that is still to come, 0..<1.
  private var rest = 0.0
  private var last: TickInstant?

  init(
    _ driver: consuming SimulatedGPIODriver, valves: [SimulatedGPIOLevel], pulsesPerLitre: Double, isDry: FaultSwitch,
    isBurst: FaultSwitch
  ) {
    self.driver = driver
    self.valves = valves
    self.pulsesPerLitre = pulsesPerLitre
    self.isDry = isDry
    self.isBurst = isBurst
    self.driver.set(isHigh: true, at: .zero)
  }

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    let since = last ?? tick.started
    last = tick.started
    var rate = isBurst.isOn() ? Self.burstLitresPerMinute : 0
    for valve in 0..<valves.count where valves[valve].isActive() { rate += Self.litresPerMinute }
    if isDry.isOn() { rate = 0 }
    rest += rate * pulsesPerLitre * (tick.started - since).inSeconds / 60
    var edges = 0
    while rest >= 1, edges < Self.mostEdges {
      rest -= 1
      edges += 1
      driver.set(isHigh: false, at: tick.started)
      driver.set(isHigh: true, at: tick.started)
    }
    if rest >= 1 { rest = 0 }
  }
}

extension Sprinkler {
  /// Opens the flow sensor's line, if there is one. Returns it with the loop of a simulated sensor.
  static func openFlowSensor(_ bench: Bench<Wiring>, _ valves: ValveLines) throws -> (line: InputPart?, twins: [Loop]) {
    guard let input = bench.wiring.flowInput else { return (nil, []) }
    let part = try bench.edges(input, of: \.flowPin)
    guard bench.isSimulated else { return (part, []) }
    let isDry = bench.fault("no-water", "No water flows, whatever is open.")
    let isBurst = bench.fault("burst", "A burst pipe lets 100 l/min flow.")
    let levels = valves.simulatedLevels.prefix(
      bench.wiring.masterPin == nil ? 64 : max(0, valves.simulatedLevels.count - 1))
    return (
      part,
      bench.twin("sprinkler.flow", every: .period(.milliseconds(100))) {
        SimulatedFlow(
          part.driver(), valves: Array(levels), pulsesPerLitre: bench.wiring.pulsesPerLitre, isDry: isDry,
          isBurst: isBurst)
      }
    )
  }
}
