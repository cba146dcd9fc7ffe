import Tactus

/// What hangs on one line of a simulated request, for a loop that simulates it: puts levels on the line from within a
/// tick.
///
/// Not copyable: one line, one driver, one owning loop, on any lane. The bank must outlive it. The line is the driver's
/// alone: `SimulatedGPIOBank.set` and `pulse` are for the others. Timing: some 20 ns a change; never waits.
public struct SimulatedGPIODriver: ~Copyable {
  private let pins: UnsafeMutablePointer<SimulatedPins>
  private var changes: RingWriter<SimulatedGPIOChange>
  private let readyAt: UnsafeMutablePointer<TickInstant>?
  private let line: Int
  private let bit: UInt64
  private let debounce: Nanoseconds

  init(
    _ pins: UnsafeMutablePointer<SimulatedPins>, number: Int, line: Int, debounce: Nanoseconds,
    changes: consuming RingWriter<SimulatedGPIOChange>, readyAt: UnsafeMutablePointer<TickInstant>?
  ) {
    self.pins = pins
    self.changes = changes
    self.readyAt = readyAt
    self.line = line
    self.debounce = debounce
    bit = 1 << UInt64(number)
  }

  /// Puts a level on the line at `instant`, which is not before that of the call before. The level shows at once, to
  /// the loop that listens at `instant`. Returns `false` if 4,096 changes wait for that loop and this one is lost.
  @_noLocks @_noAllocation @discardableResult
  public mutating func set(isHigh: Bool, at instant: TickInstant) -> Bool {
    pins.pointee.world.assign(bit, isHigh)
    guard changes.push(SimulatedGPIOChange(at: instant, line: line, isHigh: isHigh)) else { return false }
    if let readyAt, instant + debounce < readyAt.pointee { readyAt.pointee = instant + debounce }
    return true
  }
}
