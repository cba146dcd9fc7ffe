import Tactus
import WallTime

/// What the deficit of a zone means for a start.
struct DeficitFinding: Hashable {
  /// How long the zone is to be watered, s; 0 for not at all; `nil` if the schedule's minutes stand.
  var seconds: Int?
  /// The deficit and what it is made of, or what is missing, for people.
  var why: String
}

/// The deficit of a zone at present.
public struct DeficitStatus: Sendable, Hashable {
  /// The zone.
  public var zone: ZoneID
  /// The deficit, or `nil` if no day has been counted yet.
  public var deficit: ZoneDeficit?
  /// Whether the weather that the deficit knows is recent enough for a start now.
  public var isValid: Bool
  /// The deficit and what it is made of, or what is missing, for people.
  public var words: String
}

extension SprinklerScheduler {
  /// How many days back the last counted day may be.
  static var validDays: Int { 2 }
  /// How far the last counted day may be ahead of the provider's last one, days. One further ahead came of a wrong answer.
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
  mutating func take(_ weather: PastWeather) {
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

  /// Takes the water of a run off its zone's deficit.
  mutating func countDeficit(_ zone: ZoneID, ran seconds: Double) {
    guard let rule = settings.deficits[zone], let place = records.deficits.firstIndex(where: { $0.zone == zone })
    else { return }
    var deficits = records.deficits
    deficits[place].water(rule.millimetres(seconds: seconds))
    change(.deficits(deficits))
  }

  /// Returns what the deficit means for each zone of a program, or nothing if the program does not go by it.
  ///
  /// - Parameters:
  ///   - date: the local date of the start.
  ///   - planned: the water of starts before it that are not in the queue yet, mm.
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
    var words = Self.words(of: deficit, rule)
    if coming > 0 { words += ", \(Self.number(coming)) still to come" }
    guard missing >= rule.leastMillimetres else {
      return DeficitFinding(seconds: 0, why: "\(words): watered from \(Self.number(rule.leastMillimetres)) mm on")
    }
    return DeficitFinding(
      seconds: max(1, Int(saturating: (missing / rule.millimetresPerHour * 3_600).rounded())), why: words)
  }

  /// Returns a deficit with its reasons: `3.2 mm since Tue 2026-06-30: ET 11, rain 4.8, watered 3`.
  private static func words(of deficit: ZoneDeficit, _ rule: DeficitRule) -> String {
    let day = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"][deficit.since.weekday]
    let most = deficit.millimetres >= rule.greatestMillimetres ? ", the most," : ""
    return "\(number(deficit.millimetres)) mm\(most) since \(day) \(deficit.since): ET \(number(deficit.evaporated)), "
      + "rain \(number(deficit.rained)), watered \(number(deficit.watered))"
      + (deficit.unknownDays > 0 ? ", days unknown \(deficit.unknownDays)" : "")
  }
}
