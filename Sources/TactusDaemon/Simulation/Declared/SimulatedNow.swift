import Synchronization
import Tactus

/// The time of the simulation, which may be read and set on any thread.
final class SimulatedNow: Sendable {
  private let instant = Atomic<Int64>(0)

  var now: TickInstant {
    get { TickInstant(nanoseconds: instant.load(ordering: .relaxed)) }
    set { instant.store(newValue.nanoseconds, ordering: .relaxed) }
  }
}

/// The calendar of a simulation, which begins at midnight, with a clock that is confirmed.
struct SimulatedCalendar {
  /// 1 January 2026, in days since 1970.
  static let firstDay = 20_454

  /// The days that an event has skipped.
  var skipped = 0
  var isConfirmed = true

  /// Returns the day, or `nil` while the clock is not confirmed.
  func day(at now: TickInstant) -> Int? {
    isConfirmed ? Self.firstDay + skipped + Int(clamping: now.nanoseconds / 86_400_000_000_000) : nil
  }
}
