@_spi(FromOutside) import Conversions
import WallTime

/// Computes when programs start, from their rules, a time zone and a place.
public struct ProgramCalendar: Sendable, Hashable {
  /// A future start of a program.
  public struct Start: Sendable, Hashable {
    public var key: StartKey
    public var at: WallInstant
  }

  public let zone: ZoneRules
  public let place: GeographicPlace?

  public init(zone: ZoneRules, place: GeographicPlace?) {
    self.zone = zone
    self.place = place
  }

  /// The number of days ahead in which the next start is searched. Every rule applies again within this time, except an interval that meets a short
  /// season only after decades.
  private static let horizon = 3_700
  /// The greatest number of days between the date of a start and its instant, which differ because of the sun's offset or of a date that the zone skipped.
  private static let daysBeside = 2

  /// Returns the instant of a start on a date, or `nil` if the sun does not rise or set on that date, or no place is configured.
  public func instant(of start: StartTime, on date: LocalDate) -> WallInstant? {
    switch start {
    case .clock(let minute): return zone.instant(of: date, second: minute * 60)
    case .sunrise(let offset): return sun(.rise, on: date).map { $0 + Int64(offset) * 60 }
    case .sunset(let offset): return sun(.set, on: date).map { $0 + Int64(offset) * 60 }
    }
  }

  private func sun(_ edge: Sun.Edge, on date: LocalDate) -> WallInstant? {
    place.flatMap { Sun($0).instant(of: edge, on: date, in: zone) }
  }

  /// Returns whether a program starts on that date, by its days and its season.
  public func starts(_ program: Program, on date: LocalDate) -> Bool {
    program.days.includes(date, day: date.daysSince1970) && program.season?.includes(date) ?? true
  }

  /// Returns the first start after an instant that is not excluded, or `nil` if the program does not start within ten years.
  ///
  /// Starts of one date that come to the same instant, as those do that the spring gap leaves out, are one start: it is excluded if any of them is.
  ///
  /// Cost: one check of each date up to that start, and the computation of the instants on the dates near it. No scan by minutes.
  public func nextStart(
    of program: Program, after instant: WallInstant, excluding isExcluded: (StartKey) -> Bool = { _ in false }
  ) -> Start? {
    let today = zone.local(instant).date.daysSince1970
    var best: Start?
    for day in today - Self.daysBeside..<today + Self.horizon {
      // Dates further on cannot bring anything earlier.
      if let best, WallInstant(secondsSince1970: Int64(day - Self.daysBeside) * 86_400) > best.at { break }
      let date = LocalDate(daysSince1970: day)
      guard program.days.includes(date, day: day), program.season?.includes(date) ?? true else { continue }
      let starts = program.starts.compactMap { start -> Start? in
        guard let at = self.instant(of: start, on: date), at > instant else { return nil }
        return Start(key: StartKey(program: program.id, start: start, date: date), at: at)
      }
      let excluded = starts.filter { isExcluded($0.key) }.map(\.at)
      for start in starts where !excluded.contains(start.at) {
        if let best, best.at <= start.at { continue }
        best = start
      }
    }
    return best
  }

  /// Returns the starts relative to sunrise or sunset, on dates from `first` to `last`, that do not happen because the sun does not rise or set.
  func sunless(_ program: Program, from first: LocalDate, through last: LocalDate) -> [StartKey] {
    guard first <= last, place != nil else { return [] }
    let starts = program.starts.filter { if case .clock = $0 { false } else { true } }
    guard !starts.isEmpty else { return [] }
    return (first.daysSince1970...last.daysSince1970).map(LocalDate.init(daysSince1970:))
      .filter { self.starts(program, on: $0) }
      .flatMap { date in
        starts.filter { instant(of: $0, on: date) == nil }
          .map { StartKey(program: program.id, start: $0, date: date) }
      }
  }
}

extension DayRule {
  /// Returns whether a program with this rule starts on that date.
  ///
  /// - Parameter day: the date as days since 1970, which callers have computed already.
  func includes(_ date: LocalDate, day: Int) -> Bool {
    switch self {
    case .weekdays(let days): days >> UInt8(clamping: (day + 3) - (day + 3).flooredQuotient(7) * 7) & 1 == 1
    case .interval(let every, let from):
      day >= from.daysSince1970 && (day - from.daysSince1970) % every == 0
    case .odd: date.day % 2 == 1 && date.day != 31 && !(date.month == 2 && date.day == 29)
    case .even: date.day % 2 == 0
    }
  }
}

extension Season {
  /// Returns whether the date is in the season. Both ends are included; a season whose `to` is before its `from` wraps over the new year.
  func includes(_ date: LocalDate) -> Bool {
    let first = from.inYear(of: date)
    let last = to.inYear(of: date)
    let day = MonthDay(month: date.month, day: date.day)
    return from <= to ? first <= day && day <= last : first <= day || day <= last
  }
}

extension MonthDay {
  /// Returns this day in the year of `date`: 29 February becomes the 28th in years without one.
  fileprivate func inYear(of date: LocalDate) -> Self {
    month == 2 && day == 29 && !date.isLeapYear ? Self(month: 2, day: 28) : self
  }
}
