import WallTime

/// The readings of the soil. Times are on the boot's clock, which cannot be set.
struct SoilBook: Sendable {
  private struct Known: Sendable {
    var percent: Double
    /// The instant at which the reading was taken, in seconds.
    var taken: Double
  }

  private var known: [SoilProbe: Known] = [:]
  /// The instant since which each rule's soil has been wet without a gap in the readings, in seconds; rules whose soil is dry
  /// are absent.
  private var wetSince: [MoistureRule: Double] = [:]

  /// Records a reading that is newer than the probe's last one.
  ///
  /// - Parameter now: the present instant, in seconds.
  mutating func record(_ reading: MoistureReading, _ rules: [MoistureRule], at now: Double) {
    let taken = now - max(0, reading.ageSeconds)
    let last = known[reading.probe]
    guard reading.percent.isFinite, taken.isFinite, last.map({ taken > $0.taken }) ?? true else { return }
    for rule in rules where rule.probe == reading.probe {
      let isGap = last.map { taken - $0.taken > Double(rule.validSeconds) } ?? true
      if reading.percent < rule.wetPercent {
        wetSince[rule] = nil
      } else if isGap || wetSince[rule] == nil {
        wetSince[rule] = taken
      }
    }
    known[reading.probe] = Known(percent: reading.percent, taken: taken)
  }

  /// Returns the state that a rule will have at an instant if no further reading arrives.
  func state(_ rule: MoistureRule, at instant: Double) -> SoilStatus.Word {
    guard let last = known[rule.probe], instant - last.taken <= Double(rule.validSeconds) else { return .unknown }
    guard let since = wetSince[rule] else { return .dry }
    return instant - since < Double(rule.delaySeconds) ? .waits : .wet
  }

  /// Returns the last reading of a rule's probe with its age at an instant, in seconds, or `nil` if there was none.
  func last(_ rule: MoistureRule, at instant: Double) -> (percent: Double, age: Double)? {
    known[rule.probe].map { ($0.percent, instant - $0.taken) }
  }
}
