import Foundation
import Sprinkler
import Store
import WallTime

extension SprinklerStore {
  /// Returns the watering log as CSV. Times are ISO 8601 in the given zone with their offset, `Z` for UTC. Names that a spreadsheet would take
  /// for a formula are preceded by an apostrophe.
  func logCSV(
    _ query: LogQuery = LogQuery(newestFirst: false), timeZone: TimeZone = .gmt, linesAPiece: Int = 500
  ) -> CSVPieces<LogPosition> {
    let style = Date.ISO8601FormatStyle(timeZoneSeparator: .colon, timeZone: timeZone)
    let columns = [
      "run", "zone", "zoneName", "program", "programName", "scheduled", "start", "askedSeconds", "ranSeconds",
      "outcome", "caller", "why", "askedLitres", "litres",
    ]
    return CSVPieces(columns: columns) { after throws(StoreError) in
      let page = try self.log(query, after: after, limit: linesAPiece)
      return (page.records.map { Self.fields($0, style) }, page.next)
    }
  }

  private static func fields(_ record: WateringRecord, _ style: Date.ISO8601FormatStyle) -> [String] {
    [
      "\(record.run)", "\(record.zone)", record.zoneName.csvText, record.program.map { "\($0)" } ?? "",
      record.programName?.csvText ?? "", "\(record.isScheduled)", record.start.date.formatted(style),
      "\(record.askedSeconds)", "\(record.ranSeconds)", record.outcome.word, record.caller?.csvText ?? "",
      record.why?.csvText ?? "", record.roundedAskedLitres.map { "\($0)" } ?? "",
      record.roundedLitres.map { "\($0)" } ?? "",
    ]
  }
}
