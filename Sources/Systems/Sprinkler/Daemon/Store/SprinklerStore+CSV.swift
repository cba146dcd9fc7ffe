import Service
import Sprinkler
import Store
import WallTime

extension SprinklerStore {
  /// Returns the watering log as CSV. Times are ISO 8601 in the given zone with their offset, `Z` for UTC. Names that a spreadsheet would take
  /// for a formula are preceded by an apostrophe.
  func logCSV(
    _ query: LogQuery = LogQuery(newestFirst: false), zone: ZoneRules = .utc, linesAPiece: Int = 500
  ) -> CSVPieces<LogPosition> {
    let columns = [
      "run", "zone", "zoneName", "program", "programName", "scheduled", "start", "askedSeconds", "ranSeconds",
      "outcome", "caller", "why", "askedLitres", "litres",
    ]
    return CSVPieces(columns: columns) { after throws(StoreError) in
      let page = try self.log(query, after: after, limit: linesAPiece)
      return (page.records.map { Self.fields($0, zone) }, page.next)
    }
  }

  private static func fields(_ record: WateringRecord, _ zone: ZoneRules) -> [String] {
    [
      "\(record.run)", "\(record.zone)", record.zoneName.csvText, record.program.map { "\($0)" } ?? "",
      record.programName?.csvText ?? "", "\(record.isScheduled)",
      WallTimeText.text(record.start, offsetSeconds: zone.offsetSeconds(at: record.start)),
      "\(record.askedSeconds)", "\(record.ranSeconds)", record.outcome.word, record.caller?.csvText ?? "",
      record.why?.csvText ?? "", record.roundedAskedLitres.map { "\($0)" } ?? "",
      record.roundedLitres.map { "\($0)" } ?? "",
    ]
  }
}
