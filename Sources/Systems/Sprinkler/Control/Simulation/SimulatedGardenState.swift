import Buses
@_spi(FromOutside) import Conversions
import Synchronization
import Tactus

/// The state behind the port of a simulated garden. Faults and litres may be accessed from any thread, everything else by the loop only.
struct SimulatedGardenState: ~Copyable {
  let stuckClosed = Atomic<UInt64>(0)
  let stuckOpen = Atomic<UInt64>(0)
  /// The flow of a burst pipe in litres a minute, as the bits of a Double.
  let burst = Atomic<UInt64>(0)
  let isDry = Atomic<Bool>(false)
  /// The litres of each valve, as the bits of a Double.
  let litres: UnsafeMutablePointer<Atomic<UInt64>>
  private let levels: SimulatedGPIOLevels
  private let valves: UnsafeMutablePointer<SimulatedGarden.Valve>
  private let count: Int
  private let master: SimulatedGarden.Valve?
  private let pulsesPerLitre: Double
  private var at: TickInstant?
  /// The pulses since the start, including a fraction of the next one.
  private var pulses = 0.0

  init(
    _ levels: SimulatedGPIOLevels, valves: [SimulatedGarden.Valve], master: SimulatedGarden.Valve?,
    pulsesPerLitre: Double
  ) {
    self.levels = levels
    self.master = master
    self.pulsesPerLitre = pulsesPerLitre
    count = valves.count
    self.valves = .allocate(capacity: count)
    litres = .allocate(capacity: count)
    for (index, valve) in valves.enumerated() { (self.valves + index).initialize(to: valve) }
    for index in 0..<count { (litres + index).initialize(to: Atomic(0)) }
  }

  deinit {
    valves.deallocate()
    litres.deinitialize(count: count)
    litres.deallocate()
  }

  @_noLocks @_noAllocation
  func isOpen(_ index: Int) -> Bool {
    let bit: UInt64 = 1 << UInt64(clamping: index)
    if stuckOpen.load(ordering: .relaxed) & bit != 0 { return true }
    return isOn(valves[index]) && stuckClosed.load(ordering: .relaxed) & bit == 0
  }

  @_noLocks @_noAllocation
  private func isOn(_ valve: SimulatedGarden.Valve) -> Bool {
    (levels.word >> UInt64(clamping: valve.line) & 1 != 0) != valve.isActiveLow
  }

  /// Puts the edges of the sensor's line since the last call into the buffer, and returns their number. Only the last 16 edges are kept, as by the
  /// kernel; the sequence numbers count all edges.
  @_noLocks @_noAllocation
  mutating func receive(_ buffer: UnsafeMutablePointer<GPIOEdgeBuffer>) -> Int {
    let now = buffer.pointee.at
    let start = at ?? now
    let before = Int64(saturating: pulses)
    if start < now { flow(for: now - start) }
    at = now
    let count = Int64(saturating: pulses) - before
    guard count > 0 else { return 0 }
    var kept = count < 16 ? count : 16
    if Int64(buffer.pointee.capacity) < kept { kept = Int64(buffer.pointee.capacity) }
    let step = (now - start) / count
    for index in 0..<Int(kept) {
      let number = count - kept + Int64(index) + 1
      buffer.pointee.edges[index] = GPIOEdge(
        at: start + step * number, line: 0, isRising: true, sequence: UInt32(truncatingIfNeeded: before + number))
    }
    return Int(kept)
  }

  @_noLocks @_noAllocation
  private mutating func flow(for time: Nanoseconds) {
    if isDry.load(ordering: .relaxed) { return }
    if let master, !isOn(master) { return }
    let minutes = time.inSeconds / 60
    for index in 0..<count where isOpen(index) {
      let amount = valves[index].litresPerMinute * minutes
      pulses += amount * pulsesPerLitre
      let sum = Double(bitPattern: litres[index].load(ordering: .relaxed)) + amount
      litres[index].store(sum.bitPattern, ordering: .relaxed)
    }
    pulses += Double(bitPattern: burst.load(ordering: .relaxed)) * minutes * pulsesPerLitre
  }
}

@_noLocks @_noAllocation
func receiveFromGarden(_ context: UnsafeMutableRawPointer, _ buffer: UnsafeMutableRawPointer) -> Int {
  context.assumingMemoryBound(to: SimulatedGardenState.self).pointee
    .receive(buffer.assumingMemoryBound(to: GPIOEdgeBuffer.self))
}

/// Reads the sensor's line, which is low between two pulses.
@_noLocks @_noAllocation
func readFromGarden(_ context: UnsafeMutableRawPointer, _ access: UnsafeMutableRawPointer) -> Int32 {
  access.assumingMemoryBound(to: GPIOAccess.self).pointee.values = 0
  return 0
}
