@_spi(FromOutside) import Conversions

/// The rule of a time zone as POSIX has it for the variable `TZ`: `<+0545>-5:45`, `NZST-12NZDT,M9.5.0,M4.1.0/3`. Time zone files end with one.
///
/// Times of a change go from -167 to 167 hours, as RFC 9636 and glibc have them. A rule that names a summer time without the dates of its changes
/// is refused, because each C library has dates of its own for it.
public struct ZoneRuleText: Sendable, Hashable {
  /// An error of a rule, with the expected and the actual text.
  public struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The expected and the actual text, in words.
    public let description: String
  }

  /// The rule as it was written.
  public let text: String
  /// The offset of standard time in seconds; east is positive.
  let standardSeconds: Int
  /// The summer time, or `nil` if there is none.
  let summer: Summer?

  struct Summer: Sendable, Hashable {
    /// The offset of summer time in seconds; east is positive.
    var offsetSeconds: Int
    /// The change to summer time, by a clock that shows standard time.
    var start: Change
    /// The change to standard time, by a clock that shows summer time.
    var end: Change
  }

  struct Change: Sendable, Hashable {
    var day: Day
    /// The time from the beginning of the day, in seconds; -604,799 to 604,799.
    var seconds: Int
  }

  enum Day: Sendable, Hashable {
    /// A day of the year from 1 to 365; 29 February is never counted.
    case julian(Int)
    /// A day of the year from 0 to 365; 29 February is counted in leap years.
    case zeroBased(Int)
    /// A weekday, from 0 for Sunday, of a week of a month; week 5 is the last one.
    case weekday(month: Int, week: Int, weekday: Int)
  }

  /// Reads a rule.
  ///
  /// - Throws: `Failure` for a text that is no rule as a whole, or has a number beyond its range.
  public init(_ text: String) throws(Failure) {
    var reader = ZoneRuleReader(text)
    self.text = text
    try reader.name("a name of at least three letters, or of letters, digits and signs between < and >")
    standardSeconds = -(try reader.time("the offset behind the name, as in UTC+3 or <+0545>-5:45", hours: 24))
    guard !reader.isAtEnd else {
      summer = nil
      return
    }
    try reader.name("the name of summer time, or the end")
    let offset = reader.next == "," || reader.isAtEnd ? nil : -(try reader.time("summer time's offset", hours: 24))
    let expected = "the dates of both changes behind the names, as in NZST-12NZDT,M9.5.0,M4.1.0/3"
    try reader.sign(",", expected)
    let start = try reader.change()
    try reader.sign(",", expected)
    let end = try reader.change()
    guard reader.isAtEnd else { throw reader.failure("the end of the rule") }
    summer = Summer(offsetSeconds: offset ?? standardSeconds + 3_600, start: start, end: end)
  }

  /// Returns the changes of the offset in some years, in ascending order, each to an offset that differs from that of the change before.
  ///
  /// - Parameter years: by standard time; a change may lie in a year beside its own.
  func transitions(in years: ClosedRange<Int>) -> [ZoneRules.Transition] {
    guard let summer else { return [] }
    var changes: [(at: WallInstant, year: Int, offset: Int)] = []
    for year in years {
      changes.append((summer.start.instant(in: year, offset: standardSeconds), year, summer.offsetSeconds))
      changes.append((summer.end.instant(in: year, offset: summer.offsetSeconds), year, standardSeconds))
    }
    // Of two changes at one instant the later year's counts: so a summer time is written that never ends.
    changes.sort { ($0.at, $0.year) < ($1.at, $1.year) }
    var transitions: [ZoneRules.Transition] = []
    for (index, change) in changes.enumerated() {
      if index + 1 < changes.count, changes[index + 1].at == change.at { continue }
      if transitions.last?.offsetSeconds == change.offset { continue }
      transitions.append(.init(at: change.at, offsetSeconds: change.offset))
    }
    return transitions
  }

  /// Returns the rules of this text alone, for `years`, both ends included.
  public func rules(years: ClosedRange<Int> = 2000...2100) -> ZoneRules {
    ZoneRules(name: nil, rule: self, listed: [], firstOffsetSeconds: standardSeconds, years: years)
  }
}

extension ZoneRules {
  /// Makes the rules of `years` of the changes that a file lists and of the rule that follows the last of them.
  ///
  /// - Parameters:
  ///   - name: the IANA name, or `nil` for a zone without one, whose rule or offset then stands for it.
  ///   - firstOffsetSeconds: the offset before the first change that the file lists.
  init(name: String?, rule: ZoneRuleText?, listed: [Transition], firstOffsetSeconds: Int, years: ClosedRange<Int>) {
    func start(of year: Int) -> WallInstant {
      WallInstant(secondsSince1970: Int64(LocalDate(year: year, month: 1, day: 1).daysSince1970) * 86_400)
    }
    let (start, end) = (start(of: years.lowerBound), start(of: years.upperBound + 1))
    // A rule's change may lie in the year before or after its own, so both neighbours are included.
    let later = rule?.transitions(in: years.lowerBound - 1...years.upperBound + 1) ?? []
    let last = listed.last?.at
    let changes = listed + later.filter { change in last.map { $0 < change.at } ?? true }
    var offset = firstOffsetSeconds
    var first = offset
    var kept: [Transition] = []
    for change in changes where change.at < end {
      if change.at <= start {
        first = change.offsetSeconds
      } else if change.offsetSeconds != offset {
        kept.append(change)
      }
      offset = change.offsetSeconds
    }
    let words = rule.flatMap { $0.summer == nil || kept.isEmpty ? nil : $0.text } ?? Self.text(ofOffset: offset)
    self.init(identifier: name ?? words, isNamed: name != nil, firstOffsetSeconds: first, transitions: kept)
  }
}

extension ZoneRuleText.Change {
  /// Returns the instant of the change in a year.
  ///
  /// - Parameter offset: the offset of the clock before the change in seconds; east is positive.
  fileprivate func instant(in year: Int, offset: Int) -> WallInstant {
    let first = LocalDate(year: year, month: 1, day: 1)
    let days =
      switch day {
      case .julian(let day): first.daysSince1970 + day - 1 + (first.isLeapYear && day > 59 ? 1 : 0)
      case .zeroBased(let day): first.daysSince1970 + day
      case .weekday(let month, let week, let weekday): Self.days(year, month, week, weekday)
      }
    return WallInstant(secondsSince1970: Int64(days) * 86_400 + Int64(seconds - offset))
  }

  private static func days(_ year: Int, _ month: Int, _ week: Int, _ weekday: Int) -> Int {
    let first = LocalDate(year: year, month: month, day: 1)
    // `weekday` of a date begins with Monday.
    let ahead = (weekday + 6 - first.weekday) % 7
    let day = 1 + ahead + (week - 1) * 7
    return first.daysSince1970 + (day > first.daysInMonth ? day - 7 : day) - 1
  }
}
