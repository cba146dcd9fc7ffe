import Sprinkler
import Tactus

/// Instants of the wall clock as the API writes them, RFC 3339.
enum WallTimeText {
  /// `2025-09-21T06:30:00Z`; with an offset the local time: `2025-09-21T08:30:00+02:00`.
  static func text(_ instant: WallInstant, offsetSeconds: Int = 0) -> String {
    let local = instant.secondsSince1970 + Int64(offsetSeconds)
    let second = Int(((local % 86_400) + 86_400) % 86_400)
    let day = (local - Int64(second)) / 86_400
    let time = [second / 3600, second / 60 % 60, second % 60].map(two).joined(separator: ":")
    guard offsetSeconds != 0 else { return date(day) + "T" + time + "Z" }
    let offset = abs(offsetSeconds) / 60
    return date(day) + "T" + time + (offsetSeconds < 0 ? "-" : "+") + two(offset / 60) + ":" + two(offset % 60)
  }

  /// From days since 1970, by the shifted year that begins in March.
  private static func date(_ day: Int64) -> String {
    let shifted = day + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let ofEra = shifted - era * 146_097
    let year = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
    let ofYear = ofEra - (365 * year + year / 4 - year / 100)
    let month = (5 * ofYear + 2) / 153
    return ScheduleWords.text(
      LocalDate(
        year: Int(year + era * 400) + (month < 10 ? 0 : 1), month: Int(month < 10 ? month + 3 : month - 9),
        day: Int(ofYear - (153 * month + 2) / 5 + 1)))
  }

  private static func two(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }
}

extension WallInstant {
  /// The time of day.
  public static var now: WallInstant { WallInstant(secondsSince1970: WallClock.microseconds / 1_000_000) }
}
