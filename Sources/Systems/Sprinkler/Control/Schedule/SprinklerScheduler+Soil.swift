import Tactus
import WallTime

/// The change that the soil makes to a zone's run, and its reason.
struct SoilFinding: Hashable {
  /// The effect on the run, or `nil` if the run is as scheduled because no reading is valid.
  var effect: MoistureRule.Effect?
  /// The reason for people: the reading with its rule, or the reading that is missing.
  var why: String
}

/// The present findings of a soil-moisture rule.
public struct SoilStatus: Sendable, Hashable {
  /// The state of a rule in one word.
  public enum Word: String, Sendable {
    /// No reading is valid, so schedules run unchanged.
    case unknown
    /// The soil is dry, so schedules run unchanged.
    case dry
    /// The soil is wet, but not for as long as the rule demands.
    case waits
    /// The soil has been wet for long enough, so the rule changes schedules.
    case wet
  }
  /// The probe that measures the soil for the rule.
  public var probe: SoilProbe
  /// The state of the rule.
  public var word: Word
  /// The last reading, 0…100 %, or `nil` if none has come since the start.
  public var percent: Double?
  /// The instant at which the reading was taken, or `nil` if there is no reading.
  public var at: WallInstant?
}

extension SprinklerScheduler {
  /// The present findings of each soil-moisture rule, in the order of the settings.
  public var soilStatus: [SoilStatus] {
    settings.moisture.map { rule in
      let last = soil.last(rule, at: bootSeconds)
      return SoilStatus(
        probe: rule.probe, word: soil.state(rule, at: bootSeconds), percent: last?.percent,
        at: last.map { WallInstant(reading) + -Int64(saturating: $0.age.rounded()) })
    }
  }

  /// Records readings of the soil, and ends runs as the rules with the effect `stop` demand.
  mutating func receive(_ readings: [MoistureReading]) {
    for reading in readings { soil.record(reading, settings.moisture, at: bootSeconds) }
    for run in records.pending where run.isScheduled && wetEnds[run.run] == nil {
      guard let finding = soilFinding(run.zone, after: 0), finding.effect == .stop else { continue }
      wetEnds[run.run] = finding.why
      effects.orders.append(.cancel(run: run.run))
    }
  }

  /// Returns the change that the soil makes to a run of a zone, or `nil` if there is none.
  ///
  /// The strongest effect counts; if no rule has an effect, a missing reading is reported.
  /// - Parameter seconds: how far the run is ahead, in seconds. A reading that will be too old by then changes nothing.
  func soilFinding(_ zone: ZoneID, after seconds: Double) -> SoilFinding? {
    var strongest: SoilFinding?
    var missing: SoilFinding?
    for rule in settings.moisture where rule.zones?.contains(zone) ?? true {
      switch soil.state(rule, at: bootSeconds + seconds) {
      case .dry, .waits: break
      case .wet:
        if strongest.map({ rule.effect.strength > ($0.effect?.strength ?? 0) }) ?? true {
          strongest = SoilFinding(effect: rule.effect, why: text(of: rule))
        }
      case .unknown:
        if soil.state(rule, at: bootSeconds) == .unknown { missing = missing ?? SoilFinding(why: text(of: rule)) }
      }
    }
    return strongest ?? missing
  }

  /// Returns the findings of the soil for each zone in a plan, by zone.
  func soilFindings(_ plan: WateringPlan, after seconds: Double) -> [ZoneID: SoilFinding] {
    guard !settings.moisture.isEmpty else { return [:] }
    let zones = Set(plan.runs.filter { $0.skipped == nil }.map(\.zone))
    return zones.reduce(into: [:]) { $0[$1] = soilFinding($1, after: seconds) }
  }

  /// Returns a sentence about the reading by which a rule acts, or about its absence: `plant 3 read 72 % at 2026-07-01 05:50, wet from 60 % on: watered for 50 %`.
  private func text(of rule: MoistureRule) -> String {
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
  /// The rank of the effect. The strongest of several effects applies.
  fileprivate var strength: Int {
    switch self {
    case .shorten(let percent): 100 - percent
    case .skip: 100
    case .stop: 101
    }
  }
}

/// The consequence of a zone's deficit for a start.
struct DeficitFinding: Hashable {
  /// The time for which the zone is to be watered, in seconds. It is 0 if the zone is not watered, and `nil` if the schedule's
  /// minutes apply.
  var seconds: Int?
  /// A description for people of the deficit and its components, or of the values that are missing.
  var why: String
}

/// The deficit of a zone at present.
public struct DeficitStatus: Sendable, Hashable {
  /// The zone whose deficit this is.
  public var zone: ZoneID
  /// The deficit, or `nil` if no day has been counted yet.
  public var deficit: ZoneDeficit?
  /// Whether the weather that the deficit knows is recent enough for a start now.
  public var isValid: Bool
  /// A description for people of the deficit and its components, or of the values that are missing.
  public var words: String
}

extension SprinklerScheduler {
  /// The greatest age of the last counted day, in days.
  static var validDays: Int { 2 }
  /// The greatest number of days by which the last counted day may be ahead of the provider's last day. A day further ahead comes from a wrong
  /// answer.
  private static var longestAhead: Int { 14 }

  /// The deficits of all zones that have a rule, by zone.
  public var deficitStatus: [DeficitStatus] {
    let today = settings.zone.local(WallInstant(reading)).date
    return settings.deficits.keys.sorted().map { zone in
      DeficitStatus(
        zone: zone, deficit: deficit(zone), isValid: deficit(zone).map { isValid($0, on: today) } ?? false,
        words: deficitFinding(zone, on: today).why)
    }
  }

  private func deficit(_ zone: ZoneID) -> ZoneDeficit? { records.deficits.first { $0.zone == zone } }

  private func isValid(_ deficit: ZoneDeficit, on date: LocalDate) -> Bool {
    date.daysSince1970 - deficit.through.daysSince1970 <= Self.validDays
  }

  /// Counts the days that are over and have not been counted yet. A day that is not known whole is passed over once a later one is known.
  mutating func receive(_ weather: PastWeather) {
    guard let place = settings.place,
      let equations = Evapotranspiration(place, elevationMetres: weather.elevationMetres ?? 0)
    else { return }
    let days = weather.days.filter(\.date.exists).sorted { $0.date < $1.date }
    guard let last = days.last?.date else { return }
    let deficits = settings.deficits.sorted { $0.key < $1.key }.map { zone, rule in
      var deficit = deficit(zone) ?? ZoneDeficit(zone: zone, through: last)
      if deficit.through.daysSince1970 - last.daysSince1970 > Self.longestAhead {
        (deficit.through, deficit.since) = (last, min(deficit.since, last + 1))
      }
      for day in days where day.date > deficit.through {
        guard let used = equations.millimetres(of: day), let rain = day.rainMillimetres, (0.0...2_000).contains(rain)
        else { continue }
        deficit.count(day.date, evaporated: used * rule.cropFactor, rained: rain, rule)
      }
      return deficit
    }
    if deficits != records.deficits { change(.deficits(deficits)) }
  }

  /// Subtracts the water of a run from its zone's deficit.
  mutating func countDeficit(_ zone: ZoneID, ran seconds: Double) {
    guard let rule = settings.deficits[zone], let place = records.deficits.firstIndex(where: { $0.zone == zone })
    else { return }
    var deficits = records.deficits
    deficits[place].water(rule.millimetres(seconds: seconds))
    change(.deficits(deficits))
  }

  /// Returns the consequence of the deficit for each zone of a program; empty if the program does not use the deficit.
  ///
  /// - Parameters:
  ///   - date: the local date of the start.
  ///   - planned: the water of starts before it that are not in the queue yet, in mm.
  func deficitFindings(
    _ program: Program, on date: LocalDate, planned: [ZoneID: Double] = [:]
  ) -> [ZoneID: DeficitFinding] {
    guard program.adjustment == .deficit else { return [:] }
    return Set(program.steps.map(\.zone)).reduce(into: [:]) {
      $0[$1] = deficitFinding($1, on: date, planned: planned[$1] ?? 0)
    }
  }

  private func deficitFinding(_ zone: ZoneID, on date: LocalDate, planned: Double = 0) -> DeficitFinding {
    guard let rule = settings.deficits[zone] else {
      return DeficitFinding(why: "zone \(zone) has no mm_per_hour: as scheduled")
    }
    guard let deficit = deficit(zone) else { return DeficitFinding(why: "no weather yet: as scheduled") }
    guard isValid(deficit, on: date) else {
      let isLater = isValid(deficit, on: settings.zone.local(WallInstant(reading)).date)
      return DeficitFinding(
        why: isLater
          ? "goes by the deficit of that day" : "no weather after \(deficit.through): as scheduled")
    }
    let coming = records.pending.reduce(planned) {
      $1.zone == zone ? $0 + rule.millimetres(seconds: Double($1.askedSeconds)) : $0
    }
    let missing = max(0, deficit.millimetres - coming)
    var words = Self.text(of: deficit, rule)
    if coming > 0 { words += ", \(Self.number(coming)) still to come" }
    guard missing >= rule.leastMillimetres else {
      return DeficitFinding(seconds: 0, why: "\(words): watered from \(Self.number(rule.leastMillimetres)) mm on")
    }
    return DeficitFinding(
      seconds: max(1, Int(saturating: (missing / rule.millimetresPerHour * 3_600).rounded())), why: words)
  }

  /// Returns a deficit with its reasons: `3.2 mm since Tue 2026-06-30: ET 11, rain 4.8, watered 3`.
  private static func text(of deficit: ZoneDeficit, _ rule: DeficitRule) -> String {
    let day = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"][deficit.since.weekday]
    let most = deficit.millimetres >= rule.greatestMillimetres ? ", the most," : ""
    return "\(number(deficit.millimetres)) mm\(most) since \(day) \(deficit.since): ET \(number(deficit.evaporated)), "
      + "rain \(number(deficit.rained)), watered \(number(deficit.watered))"
      + (deficit.unknownDays > 0 ? ", days unknown \(deficit.unknownDays)" : "")
  }
}
