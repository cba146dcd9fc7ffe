import Plants
import Tactus

/// The soils and probes as the history has left them: what can have been read, and when.
struct PlantSoils {
  /// From the end of a probe's silence to a reading: its pause, its reset, its conversions.
  private static let readTime = Nanoseconds.seconds(6)
  /// From a reading's age to somebody's hearing of it.
  private static let slack = Nanoseconds.seconds(3)

  private struct Soil {
    /// Oldest first.
    var percents: [(from: TickInstant, percent: Double)]
    var celsius: Double
    /// Since when the probe has answered, or has not.
    var since = TickInstant.zero
    var isGone = false
  }

  /// From a probe's conversion to the instant of its reading.
  private static let conversion = Nanoseconds.milliseconds(200)
  private var soils: [String: Soil] = [:]
  /// When the loop stood still: what a probe had converted before is read afterwards.
  private var stalls: [(from: TickInstant, until: TickInstant)] = []

  mutating func stoodStill(from now: TickInstant, until end: TickInstant) {
    let isOneMore = stalls.last.map { now <= $0.until } ?? false
    // One that begins within another prolongs it.
    stalls.append((now, isOneMore ? stalls.last!.until + (end - now) : end))
  }

  mutating func set(_ sensor: String, percent: Double, celsius: Double, at now: TickInstant) {
    soils[sensor, default: Soil(percents: [], celsius: celsius)].percents.append((now, percent))
  }

  mutating func setGone(_ sensor: String, _ isGone: Bool, at now: TickInstant) {
    guard soils[sensor]?.isGone != isGone else { return }
    soils[sensor]?.isGone = isGone
    soils[sensor]?.since = now
  }

  /// Whether a reading that is not stale can be had of it.
  ///
  /// - Parameter awakeSince: since when the daemon has run without a break: until a moment later it may say what it said before.
  func canBeFresh(_ sensor: String, at now: TickInstant, _ awakeSince: TickInstant) -> Bool {
    guard let soil = soils[sensor], soil.isGone else { return true }
    return now - soil.since <= PlantSwarm.staleAfter + Self.slack || now - awakeSince <= PlantSwarm.staleAfter
  }

  /// Whether there can be none.
  func canBeSilent(_ sensor: String, at now: TickInstant, _ awakeSince: TickInstant) -> Bool {
    guard let soil = soils[sensor], !soil.isGone else { return true }
    return now - max(soil.since, awakeSince) <= Self.readTime
  }

  /// Whether the soil was so when it was read.
  func isTrue(_ reading: PlantReading, of sensor: String) -> Bool {
    guard let soil = soils[sensor] else { return false }
    let wasSo = soil.percents.indices.contains { index in
      let end = index + 1 < soil.percents.count ? soil.percents[index + 1].from : .distantFuture
      let seen = stalls.last { $0.from <= end + Self.conversion && end <= $0.until }.map { max(end, $0.until) } ?? end
      return soil.percents[index].from <= reading.at && reading.at - seen <= Self.conversion
        && abs(soil.percents[index].percent - reading.moisturePercent) < 0.1
    }
    return wasSo && (reading.celsius.map { abs($0 - soil.celsius) < 0.01 } ?? true)
  }

  /// The least mean of these sensors that can be known now.
  func driest(_ sensors: [String], at now: TickInstant) -> Double {
    let least = sensors.compactMap { soils[$0] }.map { soil in
      soil.percents.indices.filter { index in
        let end = index + 1 < soil.percents.count ? soil.percents[index + 1].from : .distantFuture
        return now - end < PlantSwarm.staleAfter + Self.slack
      }.map { soil.percents[$0].percent }.min() ?? 100
    }
    return least.isEmpty ? 100 : least.reduce(0, +) / Double(least.count)
  }
}
