import CTactus

/// The clock that stamps a record of a loop's actions. The record is for people and tests; a loop itself uses only its tick's instant.
public enum RecordClock: Sendable, Hashable, BitwiseCopyable {
  /// The instant of the tick: all actions of one tick have the same stamp. It is the only clock in simulated time.
  case tick
  /// CLOCK_MONOTONIC when the record is made: consecutive actions of one tick have consecutive stamps. It is for loops in real time.
  case monotonic

  /// Returns the stamp of a record made now, in a tick that began at `tick`.
  @_noLocks @_noAllocation
  public func stamp(inTickAt tick: TickInstant) -> TickInstant {
    switch self {
    case .tick: tick
    case .monotonic: TickInstant(nanoseconds: tactus_monotonic_now())
    }
  }
}
