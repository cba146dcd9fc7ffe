import Buses
import Tactus

/// Putting a PCA9685 to sleep without cutting a pulse in half: off, one period, asleep. Two calls, no waiting in between.
///
///     var shutdown = PCA9685Shutdown(chip)
///     let next = try shutdown.step(on: &bus)     // off at once; the instant from which on to call again
///     …
///     try shutdown.step(on: &bus)                // asleep: nil
///
/// A call that throws, or comes too early, may be made again: it does what is still to be done.
public struct PCA9685Shutdown: Sendable, Hashable, BitwiseCopyable {
  private let chip: PCA9685
  private var sleepsAt: TickInstant?

  /// A shutdown that has not begun.
  @_noLocks @_noAllocation
  public init(_ chip: PCA9685) {
    self.chip = chip
    sleepsAt = nil
  }

  /// The next step; returns the instant from which on to call again, nil when nothing is left.
  @_noLocks @_noAllocation
  public mutating func step(on bus: inout I2CBus) throws(I2CError) -> TickInstant? {
    guard let at = sleepsAt else {
      try chip.turnAllOff(on: &bus)
      let at = bus.now + chip.timing.period
      sleepsAt = at
      return at
    }
    guard !(bus.now < at) else { return at }
    try chip.fallAsleep(on: &bus)
    return nil
  }
}
