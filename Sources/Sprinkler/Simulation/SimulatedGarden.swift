import Buses
import Synchronization
import Tactus

/// What hangs on the lines of a simulated bank: valves, the water behind them, and a flow sensor in the main pipe, before the
/// master valve.
///
/// For any thread. What has flowed since the last `advance` follows from the lines as they are at this one: call it before the
/// lines change, or often. Must not outlive the bank.
public final class SimulatedGarden: Sendable {
  public struct Valve: Sendable, Hashable {
    /// On the bank.
    public var line: Int
    public var isActiveLow: Bool
    /// What flows when it is open; 0 for a master valve.
    public var litresPerMinute: Double

    public init(line: Int, isActiveLow: Bool = false, litresPerMinute: Double = 10) {
      self.line = line
      self.isActiveLow = isActiveLow
      self.litresPerMinute = litresPerMinute
    }
  }
  public struct Sensor: Sendable, Hashable {
    /// On the bank.
    public var line: Int
    public var pulsesPerLitre: Double

    public init(line: Int, pulsesPerLitre: Double) {
      self.line = line
      self.pulsesPerLitre = pulsesPerLitre
    }
  }
  /// What can go wrong behind the lines; for the lines themselves see `SimulatedGPIOBank.Fault`.
  public enum Fault: Sendable, Hashable {
    /// The k-th valve does not open.
    case stuckClosed(Int)
    /// The k-th valve does not close.
    case stuckOpen(Int)
    /// So much flows besides, as long as there is water behind the master valve.
    case burst(litresPerMinute: Double)
    /// The main is shut, or the pump is dry.
    case noWater
  }

  private struct State {
    var at: TickInstant?
    var faults: Set<Fault> = []
    /// By valve; the last one is what a burst pipe has lost.
    var litres: [Double]
    /// Pulses that have not been made, below 1.
    var rest = 0.0
  }

  private let bank: SimulatedGPIOBank
  private let valves: [Valve]
  private let master: Valve?
  private let sensor: Sensor?
  private let state: Mutex<State>

  public init(on bank: SimulatedGPIOBank, valves: [Valve], master: Valve? = nil, sensor: Sensor? = nil) {
    self.bank = bank
    self.valves = valves
    self.master = master
    self.sensor = sensor
    state = Mutex(State(litres: Array(repeating: 0, count: valves.count + 1)))
  }

  public func inject(_ fault: Fault) { state.withLock { _ = $0.faults.insert(fault) } }

  public func clearFaults() { state.withLock { $0.faults = [] } }

  public var faults: Set<Fault> { state.withLock { $0.faults } }

  /// What the k-th valve has let through.
  public func litres(_ valve: Int) -> Double { state.withLock { $0.litres[valve] } }

  /// What has been lost by a burst pipe.
  public var litresLost: Double { state.withLock { $0.litres[valves.count] } }

  /// Whether the k-th valve lets water through at present.
  public func isOpen(_ valve: Int) -> Bool { state.withLock { isOpen(valve, $0.faults) } }

  /// Makes what flowed since the last call, with the sensor's pulses spread over that time. The first call flows nothing.
  public func advance(to now: TickInstant) {
    state.withLock { state in
      guard let before = state.at, before < now else {
        state.at = state.at ?? now
        return
      }
      state.at = now
      let minutes = (now - before).inSeconds / 60
      var litres = 0.0
      for (index, rate) in rates(state.faults).enumerated() {
        state.litres[index] += rate * minutes
        litres += rate * minutes
      }
      guard let sensor else { return }
      let due = state.rest + litres * sensor.pulsesPerLitre
      state.rest = due - due.rounded(.down)
      makePulses(Int(due), from: before, to: now, on: sensor.line)
    }
  }

  private func makePulses(_ count: Int, from start: TickInstant, to end: TickInstant, on line: Int) {
    guard count > 0 else { return }
    let step = (end - start) / Int64(count)
    for number in 0..<count {
      bank.pulse(line, at: start + step * Int64(number), width: step / 2)
    }
  }

  /// Litres a minute by valve, and what a burst pipe loses.
  private func rates(_ faults: Set<Fault>) -> [Double] {
    let hasWater = !faults.contains(.noWater) && (master.map(isOn) ?? true)
    guard hasWater else { return Array(repeating: 0, count: valves.count + 1) }
    var lost = 0.0
    for case .burst(let rate) in faults { lost += rate }
    return valves.indices.map { isOpen($0, faults) ? valves[$0].litresPerMinute : 0 } + [lost]
  }

  private func isOpen(_ index: Int, _ faults: Set<Fault>) -> Bool {
    if faults.contains(.stuckOpen(index)) { return true }
    return isOn(valves[index]) && !faults.contains(.stuckClosed(index))
  }

  private func isOn(_ valve: Valve) -> Bool { bank.isHigh(valve.line) != valve.isActiveLow }
}

/// Lets a garden's water flow, on a lane of its own.
// Not proved free of locks: it is the world, not the controller.
public struct SimulatedGardenLoop: ~Copyable, ControlLoop {
  private let garden: SimulatedGarden

  public init(_ garden: SimulatedGarden) { self.garden = garden }

  public mutating func tick(_ tick: Tick) { garden.advance(to: tick.started) }
}
