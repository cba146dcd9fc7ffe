import Tactus

/// A driver that sets the level of one line of a simulated request from within a tick, for a loop that simulates the device on the line.
///
/// The type is not copyable: one loop, on any lane, owns the driver of a line. The bank must outlive it. Only the driver may set
/// its line; `SimulatedGPIOBank.set` and `pulse` are for other lines. Timing: a change takes about 20 ns and never waits.
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

  /// Sets the level of the line at `instant`, which must not be before that of the previous call. The level is visible immediately,
  /// and to the loop that receives changes from `instant` on. Returns `false` if 4,096 changes wait for that loop, in which case
  /// this one is lost.
  @_noLocks @_noAllocation @discardableResult
  public mutating func set(isHigh: Bool, at instant: TickInstant) -> Bool {
    pins.pointee.world.assign(bit, isHigh)
    guard changes.push(SimulatedGPIOChange(at: instant, line: line, isHigh: isHigh)) else { return false }
    if let readyAt, instant + debounce < readyAt.pointee { readyAt.pointee = instant + debounce }
    return true
  }
}
