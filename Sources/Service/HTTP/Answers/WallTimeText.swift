@_spi(FromOutside) import Conversions
import Tactus
import WallTime

/// The RFC 3339 texts in which the API writes and reads instants of the wall clock.
public enum WallTimeText {
  /// The greatest distance from 1970 in seconds, some 100,000 years. An instant beyond it is written as that bound.
  private static let farthest: Int64 = 3_155_760_000_000

  /// Returns the instant in UTC, `2025-09-21T06:30:00Z`, or with an offset in local time, `2025-09-21T08:30:00+02:00`.
  public static func text(_ instant: WallInstant, offsetSeconds: Int = 0) -> String {
    let local = min(max(instant.secondsSince1970, -farthest), farthest) + Int64(offsetSeconds)
    let second = Int(((local % 86_400) + 86_400) % 86_400)
    let date = text(LocalDate(daysSince1970: Int((local - Int64(second)) / 86_400)))
    let time = [second / 3600, second / 60 % 60, second % 60].map(two).joined(separator: ":")
    guard offsetSeconds != 0 else { return date + "T" + time + "Z" }
    let offset = Int(clamping: offsetSeconds.magnitude) / 60
    return date + "T" + time + (offsetSeconds < 0 ? "-" : "+") + two(offset / 60) + ":" + two(offset % 60)
  }

  /// Returns the date in the form `2025-09-21`.
  public static func text(_ date: LocalDate) -> String {
    let year = String(date.year)
    return String(repeating: "0", count: max(0, 4 - year.count)) + year + "-" + two(date.month) + "-" + two(date.day)
  }

  private static func two(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }
}

extension WallInstant {
  /// The present time of day of the system clock, in whole seconds.
  public static var now: WallInstant { WallInstant(secondsSince1970: WallClock.microseconds / 1_000_000) }
}
