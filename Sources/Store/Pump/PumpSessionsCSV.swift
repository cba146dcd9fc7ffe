public import Foundation

/// The pump's sessions as CSV (RFC 4180), in pieces: a header line, then some hundred lines at a time.
///
/// Times are ISO 8601 in the given zone with their offset, `Z` for UTC; unknown is empty.
public struct PumpSessionsCSV: Sendable {
  private let store: PumpStore
  private let query: PumpSessionQuery
  private let style: Date.ISO8601FormatStyle
  private let linesAPiece: Int
  private var place = Place.header

  private enum Place {
    case header
    case lines(after: Int64?)
    case end
  }

  init(_ store: PumpStore, _ query: PumpSessionQuery, _ timeZone: TimeZone, linesAPiece: Int) {
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
      return "number,start,seconds,startedBy,end,endedBy,speedPercent,waterFirstCelsius,waterLastCelsius,"
        + "waterHighestCelsius,skinFirstCelsius,skinLastCelsius,skinHighestCelsius\r\n"
    case .lines(let after):
      let page = try store.sessions(query, after: after, limit: linesAPiece)
      place = page.next.map { .lines(after: $0) } ?? .end
      return page.sessions.isEmpty ? nil : page.sessions.map(line).joined()
    case .end: return nil
    }
  }

  /// None of its texts holds what would have to be quoted: they are names of this program's own.
  private func line(_ session: PumpSession) -> String {
    func tenths(_ number: Double?) -> String { number.map { "\(($0 * 10).rounded() / 10)" } ?? "" }
    let fields = [
      "\(session.number)", session.start.date.formatted(style), tenths(session.seconds), session.startedBy ?? "",
      session.end ?? "", session.endedBy ?? "", tenths(session.speedPercent), tenths(session.water.first),
      tenths(session.water.last), tenths(session.water.highest), tenths(session.skin.first),
      tenths(session.skin.last), tenths(session.skin.highest),
    ]
    return fields.joined(separator: ",") + "\r\n"
  }
}

extension PumpStore {
  /// The sessions as CSV.
  public func sessionsCSV(
    _ query: PumpSessionQuery = PumpSessionQuery(newestFirst: false), timeZone: TimeZone = .gmt, linesAPiece: Int = 500
  ) -> PumpSessionsCSV {
    PumpSessionsCSV(self, query, timeZone, linesAPiece: linesAPiece)
  }
}
