import Tactus
import WallTime

/// Tells a wall clock that goes from one that was set.
struct ClockWatch: Sendable {
  /// A difference below it is drift, corrected by whoever keeps the clock.
  static var tolerance: Int64 { 60 }

  private var last: (wall: WallInstant, monotonic: TickInstant)?
  /// The clock is not believed before.
  private var settledAt = TickInstant.zero
  /// Since when it has not been set.
  private var steadySince = TickInstant.zero

  /// Seconds by which the wall clock jumped since the last note, forward positive; nil: it did not.
  mutating func note(_ wall: WallInstant, _ monotonic: TickInstant, settle: Nanoseconds) -> Int64? {
    defer { last = (wall, monotonic) }
    guard let last else {
      settledAt = monotonic + settle
      steadySince = monotonic
      return nil
    }
    let jump = wall - last.wall - ((monotonic - last.monotonic).count + 500_000_000) / 1_000_000_000
    guard jump.magnitude >= Self.tolerance else { return nil }
    settledAt = monotonic + settle
    steadySince = monotonic
    return jump
  }

  /// How long until the clock is believed; nil: it is.
  func settling(at monotonic: TickInstant) -> Nanoseconds? {
    monotonic < settledAt ? settledAt - monotonic : nil
  }

  var isSettled: Bool { last.map { settling(at: $0.monotonic) == nil } ?? false }

  /// How long the clock has gone without being set.
  var steady: Nanoseconds { last.map { $0.monotonic - steadySince } ?? .zero }
}
