import CTactus

/// Which clock stamps a record of what a loop did. The record is for people and tests; a loop itself knows its tick's
/// instant and nothing else.
public enum RecordClock: Sendable, Hashable, BitwiseCopyable {
  /// The instant of the tick: everything that a tick does has the same stamp. The only one in simulated time.
  case tick
  /// CLOCK_MONOTONIC when the record is made: what one tick does in a row has stamps in a row. For loops in real time.
  case monotonic

  /// The stamp of a record made now, in a tick that began at `tick`.
  @_noLocks @_noAllocation
  public func stamp(inTickAt tick: TickInstant) -> TickInstant {
    switch self {
    case .tick: tick
    case .monotonic: TickInstant(nanoseconds: tactus_monotonic_now())
    }
  }
}
