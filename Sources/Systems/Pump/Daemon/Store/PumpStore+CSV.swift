import Service
import Store
import WallTime

extension PumpStore {
  /// Returns the sessions as CSV; times are ISO 8601 in the given zone with their offset, `Z` for UTC.
  func sessionsCSV(
    _ query: PumpSessionQuery = PumpSessionQuery(newestFirst: false), zone: ZoneRules = .utc, linesAPiece: Int = 500
  ) -> CSVPieces<Int64> {
    let columns = [
      "number", "start", "seconds", "startedBy", "end", "endedBy", "speedPercent", "waterFirstCelsius",
      "waterLastCelsius", "waterHighestCelsius", "skinFirstCelsius", "skinLastCelsius", "skinHighestCelsius",
    ]
    return CSVPieces(columns: columns) { after throws(StoreError) in
      let page = try self.sessions(query, after: after, limit: linesAPiece)
      return (page.sessions.map { Self.fields($0, zone) }, page.next)
    }
  }

  private static func fields(_ session: PumpSession, _ zone: ZoneRules) -> [String] {
    func tenths(_ number: Double?) -> String { number.map { "\(($0 * 10).rounded() / 10)" } ?? "" }
    return [
      "\(session.number)", WallTimeText.text(session.start, offsetSeconds: zone.offsetSeconds(at: session.start)),
      tenths(session.seconds), session.startedBy ?? "",
      session.end ?? "", session.endedBy ?? "", tenths(session.speedPercent), tenths(session.water.first),
      tenths(session.water.last), tenths(session.water.highest), tenths(session.skin.first),
      tenths(session.skin.last), tenths(session.skin.highest),
    ]
  }
}
