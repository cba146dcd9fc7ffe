import CTactus

/// The runtime's clock for code that is not a loop: time-outs, ages of what loops have published.
///
/// Loops and machines must use their tick's instant instead: what reads this clock cannot be simulated.
public enum MonotonicClock {
  /// CLOCK_MONOTONIC, the clock of every tick in real time. Any thread; about 20 ns.
  public static var now: TickInstant { TickInstant(nanoseconds: tactus_monotonic_now()) }
}
