import Tactus

/// The rate at which one client receives one system's telemetry.
struct TelemetryRate {
  private let interval: Int64
  private var due = Int64.min

  /// Makes a rate at which the first telemetry is due at once.
  ///
  /// - Parameter hertz: the rate in hertz, 1…10.
  init(hertz: Double) { interval = Int64(saturating: 1e9 / hertz) }

  /// Returns whether telemetry of this instant is to be sent. The rate is kept on average even if it does not divide that of the beat.
  mutating func takes(_ now: TickInstant) -> Bool {
    // The instant is that of the system's newest tick, which at 20 Hz is up to 50 ms before the beat or just at it, in turn:
    // 70 ms early is on time.
    let now = now.nanoseconds
    guard now &+ 70_000_000 >= due else { return false }
    due = due == .min || now - due > interval ? now + interval : due + interval
    return true
  }
}
