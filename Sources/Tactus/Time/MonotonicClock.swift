import CTactus

/// The runtime's clock for code outside loops, such as timeouts and ages of published data.
///
/// Loops and machines must use their tick's instant instead, since code that reads this clock cannot be simulated.
public enum MonotonicClock {
  /// The instant on CLOCK_MONOTONIC, the clock of every tick in real time. The value may be read from any thread; takes about 20 ns.
  public static var now: TickInstant { TickInstant(nanoseconds: tactus_monotonic_now()) }
}
