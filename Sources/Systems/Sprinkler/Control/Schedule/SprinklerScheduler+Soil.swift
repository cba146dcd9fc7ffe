import Tactus
import WallTime

/// What the soil changes about a zone's run, and why.
struct SoilFinding: Hashable {
  /// What becomes of the run, or `nil` if it is as the schedule says because no reading is valid.
  var effect: MoistureRule.Effect?
  /// The reading and its rule, or which reading is missing, for people.
  var why: String
}

/// What a rule of the soil finds at present.
public struct SoilStatus: Sendable, Hashable {
  /// The state of a rule in one word.
  public enum Word: String, Sendable {
    /// No reading is valid: schedules run as they are.
    case unknown
    /// The rule does not act.
    case dry
    /// The soil is wet, but not for as long as the rule demands.
    case waits
    /// The rule acts.
    case wet
  }
  /// What measures the soil for the rule.
  public var probe: SoilProbe
  /// The state of the rule.
  public var word: Word
  /// The last reading, 0…100 %, or `nil` if none has come since the start.
  public var percent: Double?
  /// When it was read, or `nil` if there was none.
  public var at: WallInstant?
}

extension SprinklerScheduler {
  /// What each rule of the soil finds, in the order of the settings.
  public var soilStatus: [SoilStatus] {
    settings.moisture.map { rule in
      let last = soil.last(rule, at: bootSeconds)
      return SoilStatus(
        probe: rule.probe, word: soil.state(rule, at: bootSeconds), percent: last?.percent,
        at: last.map { WallInstant(reading) + -Int64(saturating: $0.age.rounded()) })
    }
  }

  /// Takes readings of the soil, and ends runs as the rules with the effect `stop` demand.
  mutating func take(_ readings: [MoistureReading]) {
    for reading in readings { soil.take(reading, settings.moisture, at: bootSeconds) }
    for run in records.pending where run.isScheduled && wetEnds[run.run] == nil {
      guard let finding = soilFinding(run.zone, after: 0), finding.effect == .stop else { continue }
      wetEnds[run.run] = finding.why
      effects.orders.append(.cancel(run: run.run))
    }
  }

  /// Returns what the soil changes about a run of a zone, or `nil` if it changes nothing.
  ///
  /// The strongest effect counts; if no rule has one, a reading that is missing is said.
  /// - Parameter seconds: how far the run is ahead, s. A reading that will be too old by then changes nothing.
  func soilFinding(_ zone: ZoneID, after seconds: Double) -> SoilFinding? {
    var strongest: SoilFinding?
    var missing: SoilFinding?
    for rule in settings.moisture where rule.zones?.contains(zone) ?? true {
      switch soil.state(rule, at: bootSeconds + seconds) {
      case .dry, .waits: break
      case .wet:
        if strongest.map({ rule.effect.strength > ($0.effect?.strength ?? 0) }) ?? true {
          strongest = SoilFinding(effect: rule.effect, why: words(of: rule))
        }
      case .unknown:
        if soil.state(rule, at: bootSeconds) == .unknown { missing = missing ?? SoilFinding(why: words(of: rule)) }
      }
    }
    return strongest ?? missing
  }

  /// Returns what the soil says of each zone in a plan, by zone.
  func soilFindings(_ plan: WateringPlan, after seconds: Double) -> [ZoneID: SoilFinding] {
    guard !settings.moisture.isEmpty else { return [:] }
    let zones = Set(plan.runs.filter { $0.skipped == nil }.map(\.zone))
    return zones.reduce(into: [:]) { $0[$1] = soilFinding($1, after: seconds) }
  }

  /// Returns a sentence about the reading by which a rule acts, or about its absence: `plant 3 read 72 % at 2026-07-01 05:50, wet from 60 % on: watered for 50 %`.
  private func words(of rule: MoistureRule) -> String {
    guard let last = soil.last(rule, at: bootSeconds) else {
      return "no reading of \(rule.probe) yet: as scheduled"
    }
    let at = WallInstant(reading) + -Int64(saturating: last.age.rounded())
    let time = time(at)
    guard soil.state(rule, at: bootSeconds) != .unknown else {
      return "no valid reading of \(rule.probe), the last is of \(time): as scheduled"
    }
    let read =
      if case .pin = rule.probe {
        "\(rule.probe) read wet at \(time)"
      } else {
        "\(rule.probe) read \(Self.number(last.percent)) % at \(time), wet from \(Self.number(rule.wetPercent)) % on"
      }
    return switch rule.effect {
    case .skip, .stop: read
    case .shorten(let percent): "\(read): watered for \(percent) % of the time"
    }
  }

  /// Returns the local time of an instant for people: `2026-07-01 05:50`.
  func time(_ instant: WallInstant) -> String {
    let (date, second) = settings.zone.local(instant)
    let (hour, minute) = (second / 3_600, second / 60 % 60)
    return "\(date) \(hour < 10 ? "0" : "")\(hour):\(minute < 10 ? "0" : "")\(minute)"
  }

  /// Returns a number with at most one decimal.
  static func number(_ value: Double) -> String {
    let tenths = Int(saturating: (value * 10).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
  }
}

extension MoistureRule.Effect {
  /// The rank among effects; the strongest of several counts.
  fileprivate var strength: Int {
    switch self {
    case .shorten(let percent): 100 - percent
    case .skip: 100
    case .stop: 101
    }
  }
}
