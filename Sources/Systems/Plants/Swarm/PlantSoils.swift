import Plants
import Tactus

/// The soils and probes as the history has left them: which readings are possible, and when.
struct PlantSoils {
  /// The longest time from the end of a probe's silence to a reading, for its pause, its reset and its conversions.
  private static let readTime = Nanoseconds.seconds(6)
  /// The longest time from a reading's becoming stale to the report of it.
  private static let slack = Nanoseconds.seconds(3)

  private struct Soil {
    /// The moisture over time, oldest first.
    var percents: [(from: TickInstant, percent: Double)]
    var celsius: Double
    /// The instant since which `isGone` has had its value.
    var since = TickInstant.zero
    var isGone = false
  }

  /// The longest time from a probe's conversion to the timestamp of its reading.
  private static let conversion = Nanoseconds.milliseconds(200)
  private var soils: [String: Soil] = [:]
  /// The intervals in which the loop stood still: a value that a probe converted before is read afterwards.
  private var stalls: [(from: TickInstant, until: TickInstant)] = []

  mutating func stoodStill(from now: TickInstant, until end: TickInstant) {
    let isOneMore = stalls.last.map { now <= $0.until } ?? false
    // A stall that begins within another one prolongs it.
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

  /// Returns whether a reading that is not stale is possible.
  ///
  /// - Parameter awakeSince: since when the daemon has been running without a break; for a short time afterwards it may still report earlier
  ///   readings.
  func canBeFresh(_ sensor: String, at now: TickInstant, _ awakeSince: TickInstant) -> Bool {
    guard let soil = soils[sensor], soil.isGone else { return true }
    return now - soil.since <= PlantSwarm.staleAfter + Self.slack || now - awakeSince <= PlantSwarm.staleAfter
  }

  /// Returns whether the sensor may lack a fresh reading.
  func canBeSilent(_ sensor: String, at now: TickInstant, _ awakeSince: TickInstant) -> Bool {
    guard let soil = soils[sensor], !soil.isGone else { return true }
    return now - max(soil.since, awakeSince) <= Self.readTime
  }

  /// Returns whether the soil had this value when it was read.
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

  /// Returns the smallest mean of these sensors that can be reported now.
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
