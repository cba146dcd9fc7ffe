import Pump
import Tactus

/// The last words to a pump, when its loop has ended: OFF, until it says that it is off, or for 2 s.
///
/// For the main thread, which may wait.
struct PumpFarewell {
  private static let patience = Nanoseconds.seconds(2)

  let line: PumpLine
  /// Whether the loop has had a connection at its end.
  let isUp: Bool

  /// Whether the pump has confirmed it.
  func say() throws(RuntimeError) -> Bool {
    var words = PumpLastWords(line.link(), isUp: isUp)
    // No other thread rings it: the wait ends by the clock.
    let bell = try Doorbell()
    let end = MonotonicClock.now + Self.patience
    while MonotonicClock.now < end {
      if words.step(at: MonotonicClock.now) { return true }
      bell.wait(limit: .milliseconds(10))
    }
    return false
  }
}
