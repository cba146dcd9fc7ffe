import Foundation
import Tactus
import TestSupport
import Testing

@testable import WallTime

@Suite("Time zones", .ownThread)
struct ZoneRulesTests {
  static let zones = [
    "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo", "Asia/Kathmandu", "UTC",
    "Pacific/Apia", "Africa/Casablanca", "Pacific/Kiritimati", "Asia/Tehran", "Europe/Dublin",
  ]

  static func calendar(_ identifier: String) throws -> Calendar {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(identifier: identifier))
    return calendar
  }

  @Test("5,000 random instants: date and time of day are Foundation's", arguments: zones)
  func toLocal(identifier: String) throws {
    let rules = try ZoneRules(identifier: identifier)
    let calendar = try Self.calendar(identifier)
    var random = SplitMix64(seed: 11)
    for _ in 0..<5_000 {
      let instant = WallInstant(secondsSince1970: 946_771_200 + Int64(random.below(3_100_000_000)))
      let parts = calendar.dateComponents(
        [.year, .month, .day, .hour, .minute, .second, .weekday],
        from: Date(timeIntervalSince1970: Double(instant.secondsSince1970)))
      let (date, second) = rules.local(instant)
      #expect(date == LocalDate(year: parts.year!, month: parts.month!, day: parts.day!))
      #expect(second == parts.hour! * 3_600 + parts.minute! * 60 + parts.second!)
      #expect(date.weekday == (parts.weekday! + 5) % 7)
    }
  }

  @Test("5,000 random local times: the first instant at which a clock shows it, or the gap's end", arguments: zones)
  func toInstant(identifier: String) throws {
    let rules = try ZoneRules(identifier: identifier)
    let zone = try #require(TimeZone(identifier: identifier))
    let first = LocalDate(year: 2001, month: 1, day: 1).daysSince1970
    var random = SplitMix64(seed: 12)
    for _ in 0..<5_000 {
      let date = LocalDate(daysSince1970: first + Int(random.below(30_000)))
      let minute = Int(random.below(1_440))
      let got = rules.instant(of: date, second: minute * 60)
      // By Foundation's offsets alone: the earliest instant, within a day and a half, at which local time is no earlier
      // and was earlier before.
      let wanted = Double(date.daysSince1970 * 86_400 + minute * 60)
      func shown(_ seconds: Double) -> Double {
        seconds + Double(zone.secondsFromGMT(for: Date(timeIntervalSince1970: seconds)))
      }
      let at = Double(got.secondsSince1970)
      #expect(shown(at) >= wanted && shown(at - 1) < wanted, "\(date) \(minute)")
      if shown(at) == wanted {
        for earlier in [1_800.0, 3_600, 7_200] { #expect(shown(at - earlier) != wanted, "\(date) \(minute)") }
      }
    }
  }

  @Test("every transition of 2000…2040: exactly where Foundation's offset changes, and nowhere else", arguments: zones)
  func transitions(identifier: String) throws {
    let rules = try ZoneRules(identifier: identifier)
    let zone = try #require(TimeZone(identifier: identifier))
    for transition in rules.transitions where transition.at.secondsSince1970 < 2_208_988_800 {
      let at = Date(timeIntervalSince1970: Double(transition.at.secondsSince1970))
      #expect(zone.secondsFromGMT(for: at) == transition.offsetSeconds)
      #expect(zone.secondsFromGMT(for: at - 1) != transition.offsetSeconds)
    }
    for hour in stride(from: 946_684_800, to: 2_208_988_800, by: 3_600 * 7) {
      let offset = rules.offsetSeconds(at: WallInstant(secondsSince1970: Int64(hour)))
      guard offset != zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(hour))) else { continue }
      Issue.record("\(hour)")
    }
  }

  @Test(
    "the file of the machine's database: the same offsets as Foundation's",
    .enabled(if: FileManager.default.fileExists(atPath: "/usr/share/zoneinfo/Europe/Berlin")),
    arguments: [
      "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo", "Asia/Kathmandu", "UTC",
    ])
  func file(identifier: String) throws {
    let bytes = try Data(contentsOf: URL(filePath: "/usr/share/zoneinfo/\(identifier)"))
    #expect(try ZoneFile(bytes: Array(bytes)).rules(name: identifier) == ZoneRules(identifier: identifier))
  }

  static func instant(_ zone: String, _ date: (Int, Int, Int), _ hour: Int, _ minute: Int) throws -> WallInstant {
    try ZoneRules(identifier: zone)
      .instant(of: LocalDate(year: date.0, month: date.1, day: date.2), second: hour * 3_600 + minute * 60)
  }

  @Test("a time that the spring gap leaves out: the first instant after the gap")
  func gap() throws {
    // 02:00…03:00 of 29 March 2026 do not exist in Berlin: 01:00 UTC is 03:00.
    #expect(try Self.instant("Europe/Berlin", (2026, 3, 29), 2, 30).secondsSince1970 == 1_774_746_000)
    #expect(try Self.instant("Europe/Berlin", (2026, 3, 29), 2, 0).secondsSince1970 == 1_774_746_000)
    #expect(try Self.instant("Europe/Berlin", (2026, 3, 29), 3, 0).secondsSince1970 == 1_774_746_000)
    #expect(try Self.instant("Europe/Berlin", (2026, 3, 29), 1, 59).secondsSince1970 == 1_774_745_940)
    // Half an hour only: 4 October 2026, 02:00…02:30 on Lord Howe; 15:30 UTC the day before.
    #expect(try Self.instant("Australia/Lord_Howe", (2026, 10, 4), 2, 10).secondsSince1970 == 1_791_041_400)
    // Midnight itself: 4 November 2018 began at 01:00 in São Paulo.
    #expect(try Self.instant("America/Sao_Paulo", (2018, 11, 4), 0, 0).secondsSince1970 == 1_541_300_400)
    // A whole day: Apia had no 30 December 2011.
    let skipped = try Self.instant("Pacific/Apia", (2011, 12, 30), 6, 0)
    #expect(try skipped == Self.instant("Pacific/Apia", (2011, 12, 31), 0, 0))
  }

  @Test("a time that the autumn hour repeats: its first pass")
  func repeatedHour() throws {
    // 02:30 of 25 October 2026 in Berlin: 00:30 UTC in summer time, not 01:30.
    #expect(try Self.instant("Europe/Berlin", (2026, 10, 25), 2, 30).secondsSince1970 == 1_792_888_200)
    #expect(try Self.instant("America/New_York", (2026, 11, 1), 1, 30).secondsSince1970 == 1_793_511_000)
  }

  @Test("a name that no zone has: an error that names it and one near it")
  func unknown() {
    #expect(throws: UnknownTimeZone(identifier: "Europe/Berln", near: "Europe/Berlin")) {
      try ZoneRules(identifier: "Europe/Berln")
    }
    #expect(throws: UnknownTimeZone(identifier: "berlin", near: "Europe/Berlin")) {
      try ZoneRules(identifier: "berlin")
    }
    #expect(throws: UnknownTimeZone(identifier: "GMT+25:99", near: nil)) { try ZoneRules(identifier: "GMT+25:99") }
  }

  @Test("civil dates: every day of 1600…2400 there and back, and the weekday turns")
  func civilDates() {
    let first = LocalDate(year: 1600, month: 1, day: 1).daysSince1970
    let last = LocalDate(year: 2400, month: 12, day: 31).daysSince1970
    #expect(LocalDate(year: 1970, month: 1, day: 1).daysSince1970 == 0)
    var before = LocalDate(daysSince1970: first - 1)
    for day in first...last {
      let date = LocalDate(daysSince1970: day)
      guard date.exists, date > before, date.daysSince1970 == day, date.weekday == (before.weekday + 1) % 7 else {
        Issue.record("\(date)")
        break
      }
      before = date
    }
  }
}
