import Buses
import Tactus

/// The shutdown of a PCA9685 without cutting a pulse short: all channels off, then asleep after one period. Two calls, without waiting in between.
///
///     var shutdown = PCA9685Shutdown(chip)
///     let next = try shutdown.step(on: &bus)     // off immediately; returns the instant of the next call
///     …
///     try shutdown.step(on: &bus)                // asleep; returns nil
///
/// A call that throws, or that comes too early, may be repeated: it does the remaining work.
public struct PCA9685Shutdown: Sendable, Hashable, BitwiseCopyable {
  private let chip: PCA9685
  private var sleepsAt: TickInstant?

  /// Creates a shutdown that has not begun.
  @_noLocks @_noAllocation
  public init(_ chip: PCA9685) {
    self.chip = chip
    sleepsAt = nil
  }

  /// Takes the next step. Returns the instant from which on to call again, or `nil` if the shutdown is complete.
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
