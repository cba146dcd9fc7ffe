@_spi(FromOutside) import Conversions
import Glibc

/// The time of a log line in the time zone of the machine.
struct LogTime {
  /// The seconds since 1970.
  let seconds: Int
  private let parts: tm

  /// Reads a timestamp as `WallClock.text` writes it: `2026-02-03T04:05:06.123456Z`. Any other text counts as the beginning of 1970.
  init(_ timestamp: String) {
    let numbers = timestamp.prefix(19).split { !("0"..."9").contains($0) }.compactMap { Int32($0) }
    var (seconds, local) = (0, tm())
    if numbers.count == 6 {
      (local.tm_year, local.tm_mon, local.tm_mday) = (numbers[0] - 1900, numbers[1] - 1, numbers[2])
      (local.tm_hour, local.tm_min, local.tm_sec) = (numbers[3], numbers[4], numbers[5])
      seconds = timegm(&local)
    }
    localtime_r(&seconds, &local)
    (self.seconds, parts) = (seconds, local)
  }

  /// Has the C library read the machine's time zone, which a process that is confined later may not be able to.
  static func readZone() { tzset() }

  /// The local day: `2026-02-03`.
  var day: String { "\(parts.tm_year + 1900)-\(Self.two(parts.tm_mon + 1))-\(Self.two(parts.tm_mday))" }

  /// The time of day: `05:05:06`.
  var clock: String { "\(Self.two(parts.tm_hour)):\(Self.two(parts.tm_min)):\(Self.two(parts.tm_sec))" }

  /// The zone's name at this time: `CET`, or `+0545` where it has no letters.
  var zone: String { parts.tm_zone.map { String(cString: $0) } ?? "UTC" }

  private static func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
