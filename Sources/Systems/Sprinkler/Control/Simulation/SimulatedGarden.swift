import Buses
import Synchronization
import Tactus

/// What hangs on the lines of a simulated bank: valves, the water behind them, and a flow sensor in the main pipe, before the
/// master valve.
///
/// Water flows when the loop looks at its flow sensor, which it does before it changes a line: what has flowed since the last
/// look follows from the lines as they are. Faults and litres are for any thread. Must not outlive the bank, and must outlive
/// its port.
// Safe: what other threads see is atomics, the rest is the loop's.
public final class SimulatedGarden: @unchecked Sendable {
  public struct Valve: Sendable, Hashable, BitwiseCopyable {
    /// On the bank.
    public var line: Int
    public var isActiveLow: Bool
    /// What flows when it is open; of no meaning for a master valve.
    public var litresPerMinute: Double

    public init(line: Int, isActiveLow: Bool = false, litresPerMinute: Double = 10) {
      self.line = line
      self.isActiveLow = isActiveLow
      self.litresPerMinute = litresPerMinute
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

  private let state: UnsafeMutablePointer<SimulatedGardenState>
  private let count: Int

  /// `valves`: 1…64, the k-th for line k of the loop's request.
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

  /// The flow sensor for the loop that owns the lines. One port is in use at a time.
  public func flowSensor() -> GPIOEvents {
    GPIOEvents(context: state, count: 1, descriptor: nil, receive: receiveFromGarden, perform: readFromGarden)
  }

  /// Faults add up; a second burst pipe replaces the first.
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

  /// By kind, then by valve.
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

  /// What the k-th valve has let through, l.
  public func litres(_ valve: Int) -> Double {
    _ = bit(valve)
    return Double(bitPattern: state.pointee.litres[valve].load(ordering: .relaxed))
  }

  /// What has been lost by a burst pipe, l.
  public var litresLost: Double { Double(bitPattern: state.pointee.litres[count].load(ordering: .relaxed)) }

  /// Whether the k-th valve lets water through at present, if there is any.
  public func isOpen(_ valve: Int) -> Bool {
    _ = bit(valve)
    return state.pointee.isOpen(valve)
  }

  private func bit(_ valve: Int) -> UInt64 {
    precondition((0..<count).contains(valve), "no such valve")
    return 1 << UInt64(clamping: valve)
  }
}
