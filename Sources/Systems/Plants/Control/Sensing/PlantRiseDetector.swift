import Tactus

/// Detects waterings in a sensor's moisture: a rise by at least `rise` within `window`. A slower rise is not a watering.
///
/// For one window after a watering further rises count as the same watering, because water takes time to seep.
public struct PlantRiseDetector: Sendable, Hashable {
  /// The minimum rise in percentage points, more than 0.
  public let rise: Double
  public let window: Nanoseconds

  private struct Point: Hashable {
    var at: TickInstant
    var percent: Double
  }
  /// The readings of the window that are lower than all later ones, oldest first; the first is the lowest.
  private var lows: [Point] = []
  private var lastRise: TickInstant?

  /// Creates a detector. By default the rise is ten points within half an hour.
  public init(rise: Double = 10, window: Nanoseconds = .seconds(1_800)) {
    precondition(rise > 0 && window.count > 0, "a rise is more than nothing, within more than no time")
    self.rise = rise
    self.window = window
  }

  /// Returns whether the reading at `now` shows a new watering.
  public mutating func step(_ percent: Double, at now: TickInstant) -> Bool {
    let point = Point(at: now, percent: percent)
    if let lastRise, now - lastRise < window {
      lows = [point]
      return false
    }
    lows.removeAll { window < now - $0.at }
    while let last = lows.last, last.percent >= percent { lows.removeLast() }
    lows.append(point)
    guard percent - lows[0].percent >= rise else { return false }
    lastRise = now
    lows = [point]
    return true
  }
}
