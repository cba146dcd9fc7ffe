import Pump
import Tactus

/// Sends OFF to a pump after its loop has ended, until the pump confirms that it is off, or for 2 s.
///
/// For the main thread, which may wait.
struct PumpFarewell {
  private static let patience = Nanoseconds.seconds(2)

  let line: PumpLine
  /// Whether the loop had a connection when it ended.
  let isUp: Bool

  /// Sends OFF repeatedly. Returns whether the pump has confirmed that it is off.
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
