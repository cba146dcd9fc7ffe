import Foundation
import WallTime

extension WallInstant {
  /// The instant as `2026-02-03T04:05:06Z`.
  var isoText: String { date.formatted(Date.ISO8601FormatStyle()) }

  /// The instant for names of files, such as `20260203T040506Z`.
  var nameText: String {
    date.formatted(Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted))
  }

  /// Parses the text of `nameText`. The result is `nil` for any other text.
  init?(nameText: some StringProtocol) {
    let style = Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted)
    guard let date = try? Date(String(nameText), strategy: style),
      let seconds = Int64(exactly: date.timeIntervalSince1970.rounded(.down))
    else { return nil }
    self.init(secondsSince1970: seconds)
  }

  /// The instant as Foundation's calendars and formatters use it.
  public var date: Date { Date(timeIntervalSince1970: TimeInterval(secondsSince1970)) }
}
