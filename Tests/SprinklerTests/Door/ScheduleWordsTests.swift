import Sprinkler
import Testing
import WallTime

@testable import Service
@testable import SprinklerDaemon

@Suite("words of schedules")
struct ScheduleWordsTests {
  @Test(
    "starts: read and written",
    arguments: [
      ("06:30", StartTime.clock(minute: 390)), ("00:00", .clock(minute: 0)), ("23:59", .clock(minute: 1439)),
      ("sunrise", .sunrise(offsetMinutes: 0)), ("sunrise-20", .sunrise(offsetMinutes: -20)),
      ("sunset+720", .sunset(offsetMinutes: 720)),
    ])
  func starts(text: String, start: StartTime) {
    #expect(ScheduleWords.start(text) == start && ScheduleWords.text(start) == text)
  }

  @Test(
    "what is no start: refused",
    arguments: ["", "6", "24:00", "06:60", "6:5", "-1:00", "06:00:00", "sunrise20", "sunrise+721", "sunset--5", "noon"])
  func noStart(text: String) { #expect(ScheduleWords.start(text) == nil) }

  @Test("dates: only those of the calendar")
  func dates() {
    #expect(ScheduleWords.date("2024-02-29") == LocalDate(year: 2024, month: 2, day: 29))
    for text in ["2026-02-29", "2026-13-01", "2026-1-1", "26-01-01", "2026-04-31", ""] {
      #expect(ScheduleWords.date(text) == nil, "\(text)")
    }
    #expect(ScheduleWords.monthDay("02-29") == MonthDay(month: 2, day: 29) && ScheduleWords.monthDay("02-30") == nil)
  }
}
