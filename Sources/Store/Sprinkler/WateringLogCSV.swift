public import Foundation
import Sprinkler

/// The watering log as CSV (RFC 4180), in pieces: a header line, then some hundred lines at a time.
///
/// Times are ISO 8601 in the given zone with their offset, `Z` for UTC; unknown is empty. Lines that come or go between two pieces
/// neither repeat nor hide others.
public struct WateringLogCSV: Sendable {
  private let store: SprinklerStore
  private let query: LogQuery
  private let style: Date.ISO8601FormatStyle
  private let linesAPiece: Int
  private var place = Place.header

  private enum Place {
    case header
    case lines(after: LogPosition?)
    case end
  }

  init(_ store: SprinklerStore, _ query: LogQuery, _ timeZone: TimeZone, linesAPiece: Int) {
    self.store = store
    self.query = query
    self.linesAPiece = linesAPiece
    style = Date.ISO8601FormatStyle(timeZoneSeparator: .colon, timeZone: timeZone)
  }

  /// The next piece; nil: that was all.
  public mutating func next() throws(StoreError) -> String? {
    switch place {
    case .header:
      place = .lines(after: nil)
      return "run,zone,zoneName,program,programName,scheduled,start,askedSeconds,ranSeconds,outcome,caller\r\n"
    case .lines(let after):
      let page = try store.log(query, after: after, limit: linesAPiece)
      place = page.next.map { .lines(after: $0) } ?? .end
      return page.records.isEmpty ? nil : page.records.map(line).joined()
    case .end: return nil
    }
  }

  private func line(_ record: WateringRecord) -> String {
    let fields = [
      "\(record.run)", "\(record.zone)", record.zoneName, record.program.map { "\($0)" } ?? "",
      record.programName ?? "", "\(record.isScheduled)", record.start.date.formatted(style), "\(record.askedSeconds)",
      "\(record.ranSeconds)", record.outcome.name, record.caller ?? "",
    ]
    return fields.map(Self.field).joined(separator: ",") + "\r\n"
  }

  private static func field(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: { ",\"\r\n".unicodeScalars.contains($0) }) else { return text }
    return "\"\(text.replacing("\"", with: "\"\""))\""
  }
}

extension SprinklerStore {
  /// The log as CSV.
  public func logCSV(
    _ query: LogQuery = LogQuery(newestFirst: false), timeZone: TimeZone = .gmt, linesAPiece: Int = 500
  ) -> WateringLogCSV {
    WateringLogCSV(self, query, timeZone, linesAPiece: linesAPiece)
  }
}
