import Buses
import Synchronization
import Tactus

/// A simulated garden on the lines of a simulated GPIO bank: valves, the water behind them, and a flow sensor in the main pipe,
/// upstream of the master valve.
///
/// Water is computed when the loop reads its flow sensor, which it does before it changes a line: the flow since the last read follows
/// from the present state of the lines. Faults and litres may be accessed from any thread. The garden must not outlive the bank, and must
/// outlive the sensor's port.
// Safe: what other threads see is atomics, the rest is the loop's.
public final class SimulatedGarden: @unchecked Sendable {
  public struct Valve: Sendable, Hashable, BitwiseCopyable {
    /// The number of the valve's line on the bank.
    public var line: Int
    public var isActiveLow: Bool
    /// The flow through the open valve; ignored for a master valve.
    public var litresPerMinute: Double

    public init(line: Int, isActiveLow: Bool = false, litresPerMinute: Double = 10) {
      self.line = line
      self.isActiveLow = isActiveLow
      self.litresPerMinute = litresPerMinute
    }
  }
  /// A fault behind the lines; `SimulatedGPIOBank.Fault` has the faults of the lines themselves.
  public enum Fault: Sendable, Hashable {
    /// The valve with this index does not open.
    case stuckClosed(Int)
    /// The valve with this index does not close.
    case stuckOpen(Int)
    /// A burst pipe loses water as long as there is water behind the master valve.
    case burst(litresPerMinute: Double)
    /// No water arrives: the main is shut, or the pump is dry.
    case noWater
  }

  private let state: UnsafeMutablePointer<SimulatedGardenState>
  private let count: Int

  /// Creates a garden with 1…64 valves; the valve at index k is on line k of the loop's request.
  public init(
    on bank: SimulatedGPIOBank, valves: [Valve], master: Valve? = nil, pulsesPerLitre: Double = 450
  ) {
    precondition((1...64).contains(valves.count), "a garden has 1…64 valves")
    count = valves.count
    state = .allocate(capacity: 1)
    state.initialize(
      to: SimulatedGardenState(bank.levels, valves: valves, master: master, pulsesPerLitre: pulsesPerLitre))
  }

  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
  }

  /// Returns the flow sensor's port for the loop that owns the lines. Only one port may be in use at a time.
  public func flowSensor() -> GPIOEvents {
    GPIOEvents(context: state, count: 1, descriptor: nil, receive: receiveFromGarden, perform: readFromGarden)
  }

  /// Adds a fault to those in effect; a second burst pipe replaces the first.
  public func inject(_ fault: Fault) {
    switch fault {
    case .stuckClosed(let valve): state.pointee.stuckClosed.bitwiseOr(bit(valve), ordering: .relaxed)
    case .stuckOpen(let valve): state.pointee.stuckOpen.bitwiseOr(bit(valve), ordering: .relaxed)
    case .burst(let rate): state.pointee.burst.store(rate.bitPattern, ordering: .relaxed)
    case .noWater: state.pointee.isDry.store(true, ordering: .relaxed)
    }
  }

  public func clearFaults() {
    state.pointee.stuckClosed.store(0, ordering: .relaxed)
    state.pointee.stuckOpen.store(0, ordering: .relaxed)
    state.pointee.burst.store(0, ordering: .relaxed)
    state.pointee.isDry.store(false, ordering: .relaxed)
  }

  /// The faults in effect, by kind, then by valve.
  public var activeFaults: [Fault] {
    var active: [Fault] = []
    let closed = state.pointee.stuckClosed.load(ordering: .relaxed)
    let open = state.pointee.stuckOpen.load(ordering: .relaxed)
    for valve in 0..<count where closed & bit(valve) != 0 { active.append(.stuckClosed(valve)) }
    for valve in 0..<count where open & bit(valve) != 0 { active.append(.stuckOpen(valve)) }
    let burst = Double(bitPattern: state.pointee.burst.load(ordering: .relaxed))
    if burst > 0 { active.append(.burst(litresPerMinute: burst)) }
    if state.pointee.isDry.load(ordering: .relaxed) { active.append(.noWater) }
    return active
  }

  /// Returns the volume of water that the valve with this index has let through, in litres.
  public func litres(_ valve: Int) -> Double {
    _ = bit(valve)
    return Double(bitPattern: state.pointee.litres[valve].load(ordering: .relaxed))
  }

  /// Returns whether the valve with this index is open, whether or not there is water.
  public func isOpen(_ valve: Int) -> Bool {
    _ = bit(valve)
    return state.pointee.isOpen(valve)
  }

  private func bit(_ valve: Int) -> UInt64 {
    precondition((0..<count).contains(valve), "no such valve")
    return 1 << UInt64(clamping: valve)
  }
}
