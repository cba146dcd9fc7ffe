@_spi(FromOutside) import Conversions
import Synchronization
import Tactus
import WallTime

/// The `Date` field of answers (RFC 9110 §6.6.1) in the form of §5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
  /// The earliest date that is sent, 2020-01-01. A machine without a battery for its clock starts in 1970 and does not know the date.
  private static let first = WallInstant(secondsSince1970: 1_577_836_800)
  /// The text of the present second, which many answers share.
  private static let made = Mutex((instant: first, text: text(first)))

  /// The present date, or `nil` if the machine's clock has not been set.
  static var now: String? {
    let now = WallInstant.now
    guard now.secondsSince1970 > first.secondsSince1970 else { return nil }
    return made.withLock { made in
      if made.instant != now { made = (now, text(now)) }
      return made.text
    }
  }

  /// The line of the field in an answer's head with its end, or nothing if the machine's clock has not been set.
  static var line: String { now.map { "date: \($0)\r\n" } ?? "" }

  /// Returns the text of an instant of the years 1 to 9999.
  static func text(_ instant: WallInstant) -> String {
    let written = WallTimeText.text(instant)
    let days = instant.secondsSince1970 / 86_400 - (instant.secondsSince1970 % 86_400 < 0 ? 1 : 0)
    let date = LocalDate(daysSince1970: Int(days))
    let day = (date.day < 10 ? "0" : "") + "\(date.day)"
    return
      "\(weekdays[date.weekday]), \(day) \(months[date.month - 1]) \(written.prefix(4)) \(written.dropFirst(11).prefix(8)) GMT"
  }

  private static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
}
