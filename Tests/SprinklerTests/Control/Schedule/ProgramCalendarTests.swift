import Sprinkler
import Tactus
import TestSupport
import Testing
import WallTime

@Suite("When programs start", .ownThread)
struct ProgramCalendarTests {
  static func date(_ year: Int, _ month: Int, _ day: Int) -> LocalDate {
    LocalDate(year: year, month: month, day: day)
  }

  static func program(
    _ days: DayRule, _ starts: [StartTime] = [.clock(minute: 360)], season: Season? = nil, id: Int = 1
  ) -> Program {
    Program(
      id: id, name: "p\(id)", days: days, season: season, starts: starts,
      steps: [Program.Step(zone: ZoneID(index: 0), seconds: 600)])
  }

  /// The dates (and minutes of the day) of the next starts.
  private func starts(
    _ program: Program, from date: LocalDate, count: Int, _ calendar: ProgramCalendar
  ) -> [(LocalDate, Int)] {
    var instant = calendar.zone.instant(of: date, second: 0) - 1
    var found: [(LocalDate, Int)] = []
    while found.count < count, let start = calendar.nextStart(of: program, after: instant) {
      instant = start.at
      let (date, second) = calendar.zone.local(start.at)
      found.append((date, second / 60))
    }
    return found
  }

  private func days(_ program: Program, from date: LocalDate, count: Int) -> [String] {
    starts(program, from: date, count: count, ProgramCalendar(zone: .utc, place: nil)).map { "\($0.0)" }
  }

  @Test("weekdays: Monday is bit 0")
  func weekdays() {
    // 23 November 2026 is a Monday.
    #expect(
      days(Self.program(.weekdays(0b000_0010)), from: Self.date(2026, 11, 21), count: 2)
        == ["2026-11-24", "2026-12-01"])
    #expect(
      days(Self.program(.weekdays(0b100_0001)), from: Self.date(2026, 11, 21), count: 3)
        == ["2026-11-22", "2026-11-23", "2026-11-29"])
  }

  @Test("interval: counted from its date, not before it")
  func interval() {
    let every = Self.program(.interval(days: 3, from: Self.date(2026, 2, 27)))
    #expect(days(every, from: Self.date(2026, 2, 1), count: 3) == ["2026-02-27", "2026-03-02", "2026-03-05"])
  }

  @Test("odd days: no 31st and no 29 February")
  func odd() {
    #expect(
      days(Self.program(.odd), from: Self.date(2028, 2, 26), count: 3) == ["2028-02-27", "2028-03-01", "2028-03-03"])
    #expect(days(Self.program(.odd), from: Self.date(2026, 7, 29), count: 2) == ["2026-07-29", "2026-08-01"])
    #expect(
      days(Self.program(.even), from: Self.date(2028, 2, 26), count: 3) == ["2028-02-26", "2028-02-28", "2028-03-02"])
  }

  @Test("a season over the new year, 29 February its end")
  func season() {
    let winter = Season(from: MonthDay(month: 12, day: 30), to: MonthDay(month: 2, day: 29))
    let daily = Self.program(.weekdays(127), season: winter)
    #expect(days(daily, from: Self.date(2026, 2, 27), count: 3) == ["2026-02-27", "2026-02-28", "2026-12-30"])
    #expect(days(daily, from: Self.date(2028, 2, 28), count: 3) == ["2028-02-28", "2028-02-29", "2028-12-30"])
  }

  @Test("several starts, one by the sun: by instant")
  func several() throws {
    let berlin = try ZoneRules(identifier: "Europe/Berlin")
    let calendar = ProgramCalendar(zone: berlin, place: GeographicPlace(latitude: 52.52, longitude: 13.405))
    let program = Self.program(
      .weekdays(127), [.clock(minute: 1_200), .sunrise(offsetMinutes: -60), .clock(minute: 300)])
    // Sunrise is at 04:43.
    let found = starts(program, from: Self.date(2024, 6, 21), count: 4, calendar)
    #expect(found.map(\.1).dropFirst() == [300, 1_200, found[3].1])
    #expect(abs(found[0].1 - 223) <= 1)
    #expect(found.map(\.0.day) == [21, 21, 21, 22])
  }

  @Test("an offset from the sun that falls on the neighbouring date: the start belongs to its own")
  func neighbour() throws {
    let berlin = try ZoneRules(identifier: "Europe/Berlin")
    let calendar = ProgramCalendar(zone: berlin, place: GeographicPlace(latitude: 52.52, longitude: 13.405))
    // Saturdays before dawn are Friday evenings; sunset + 5 h is after midnight.
    let early = Self.program(.weekdays(0b010_0000), [.sunrise(offsetMinutes: -360)])
    let late = Self.program(.weekdays(0b010_0000), [.sunset(offsetMinutes: 300)])
    let noon = berlin.instant(of: Self.date(2024, 6, 19), second: 43_200)
    let first = try #require(calendar.nextStart(of: early, after: noon))
    #expect(first.key.date == Self.date(2024, 6, 22))
    #expect(berlin.local(first.at).date == Self.date(2024, 6, 21))
    let second = try #require(calendar.nextStart(of: late, after: noon))
    #expect(second.key.date == Self.date(2024, 6, 22))
    #expect(berlin.local(second.at).date == Self.date(2024, 6, 23))
    // Asked on that very Sunday, the start of Saturday is still found.
    let sunday = berlin.instant(of: Self.date(2024, 6, 23), second: 60)
    #expect(calendar.nextStart(of: late, after: sunday)?.at == second.at)
  }

  @Test("two starts in the spring gap, and one at its end: one start, and the next day all three")
  func gap() throws {
    let berlin = try ZoneRules(identifier: "Europe/Berlin")
    let calendar = ProgramCalendar(zone: berlin, place: nil)
    let program = Self.program(.weekdays(127), [.clock(minute: 150), .clock(minute: 135), .clock(minute: 180)])
    let midnight = berlin.instant(of: Self.date(2026, 3, 29), second: 0)
    let first = try #require(calendar.nextStart(of: program, after: midnight))
    #expect(first.key.date == Self.date(2026, 3, 29))
    #expect(berlin.local(first.at).second == 3 * 3_600)
    // Whichever of them has been, the others are not to come.
    for start in program.starts {
      let key = StartKey(program: program.id, start: start, date: Self.date(2026, 3, 29))
      let second = try #require(calendar.nextStart(of: program, after: first.at - 1, excluding: { $0 == key }))
      #expect(second.key.start == .clock(minute: 135))
      #expect(second.key.date == Self.date(2026, 3, 30))
    }
    let next = starts(program, from: Self.date(2026, 3, 29), count: 4, calendar)
    #expect(next.map(\.0.day) == [29, 30, 30, 30])
    #expect(next.map(\.1) == [180, 135, 150, 180])
  }

  @Test("polar night: the start does not happen on those days, the next is after them")
  func polar() throws {
    let oslo = try ZoneRules(identifier: "Europe/Oslo")
    let calendar = ProgramCalendar(zone: oslo, place: GeographicPlace(latitude: 69.65, longitude: 18.96))
    let program = Self.program(.weekdays(127), [.sunrise(offsetMinutes: 0)])
    let start = try #require(
      calendar.nextStart(of: program, after: oslo.instant(of: Self.date(2026, 12, 5), second: 0)))
    #expect(start.key.date.year == 2027 && start.key.date.month == 1)
  }

  @Test("no place: starts by the sun never come")
  func noPlace() {
    let calendar = ProgramCalendar(zone: .utc, place: nil)
    let program = Self.program(.weekdays(127), [.sunrise(offsetMinutes: 0)])
    #expect(calendar.nextStart(of: program, after: WallInstant(secondsSince1970: 0)) == nil)
  }

  @Test("2,000 random programs: the next start is the first of all starts of all dates")
  func exhaustive() throws {
    var random = SplitMix64(seed: 21)
    let zones = try ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "UTC"].map {
      try ZoneRules(identifier: $0)
    }
    for round in 0..<2_000 {
      let calendar = ProgramCalendar(
        zone: zones[round % zones.count], place: GeographicPlace(latitude: 50, longitude: 10))
      let program = RandomPrograms.program(&random, id: 1, zones: 4, hasSun: true)
      let after = WallInstant(secondsSince1970: 1_200_000_000 + Int64(random.below(900_000_000)))
      let today = calendar.zone.local(after).date.daysSince1970
      var wanted: WallInstant?
      for day in today - 3...today + 40 {
        let date = LocalDate(daysSince1970: day)
        guard calendar.starts(program, on: date) else { continue }
        for start in program.starts {
          guard let at = calendar.instant(of: start, on: date), at > after else { continue }
          wanted = min(wanted ?? at, at)
        }
      }
      let got = calendar.nextStart(of: program, after: after)?.at
      guard let wanted, wanted - after < 38 * 86_400 else { continue }
      #expect(got == wanted, "\(program) after \(after) in \(calendar.zone.identifier)")
    }
  }
}
