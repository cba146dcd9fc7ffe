import Foundation
import HTTPTypes
import Sprinkler
import Store

typealias HTTPStatus = HTTPResponse.Status

// The watering log, backup and restore.
extension SprinklerDoor {
  /// Longest file that `restore` takes.
  static let longestBackup = 256 << 20

  var recordRoutes: [Route] {
    var restore = Route(.post, "/api/sprinkler/restore", scope: .admin, action: "sprinkler.restore") {
      [self] request in
      guard !request.body.isEmpty else {
        throw APIError(
          .badRequest, "BODY_MISSING", "expected the file that GET /api/sprinkler/backup gave, got nothing")
      }
      try await desk.restore(request.body, request.caller)
      return done(logValue: "bytes=\(request.body.count)")
    }
    restore.fileLimit = Self.longestBackup
    let routes = [
      Route(.get, "/api/log") { [self] request in try log(request) },
      Route(.get, "/api/log.csv") { [self] request in try logCSV(request) },
      Route(.get, "/api/sprinkler/backup", scope: .admin, action: "sprinkler.backup") { [self] _ in
        let bytes = try stored { () throws(StoreError) in try desk.store.file.backup() }
        return APIResponse(
          contentType: "application/vnd.sqlite3",
          headers: [.contentDisposition: #"attachment; filename="tactus-sprinkler.sqlite""#], body: bytes,
          logValue: "bytes=\(bytes.count)")
      },
      restore,
    ]
    return routes.map { $0.waitingForDisk() }
  }

  private static let names = ["since", "until", "zone", "schedule", "order"]

  private func log(_ request: APIRequest) throws -> APIResponse {
    let query = try QueryReader(request.query, names: Self.names + ["limit", "after"])
    let after = try request.query["after"].map { text throws(APIError) in
      guard let position = LogPosition(text) else {
        throw APIError.validation("after", expected: "the next of the page before", got: "\"\(text.prefix(40))\"")
      }
      return position
    }
    let (which, limit) = (try logQuery(query, request, newestFirst: true), try query.integer("limit", in: 1...1000))
    let page = try stored { () throws(StoreError) in
      try desk.store.log(which, after: after, limit: Int(limit ?? 100))
    }
    return .json(LogDocument(runs: page.records.map(WateringDocument.init), next: page.next?.text))
  }

  /// In pieces: the whole log of years need not be in memory.
  private func logCSV(_ request: APIRequest) throws -> APIResponse {
    let query = try QueryReader(request.query, names: Self.names)
    let zone = TimeZone(identifier: description.timeZone.identifier) ?? .gmt
    let lines = CSVLines(desk.store.logCSV(try logQuery(query, request, newestFirst: false), timeZone: zone))
    var response = APIResponse(
      contentType: "text/csv; charset=utf-8",
      headers: [.contentDisposition: #"attachment; filename="watering-log.csv""#], body: [])
    response.pieces = { try lines.next() }
    return response
  }

  private func logQuery(_ query: QueryReader, _ request: APIRequest, newestFirst: Bool) throws(APIError) -> LogQuery {
    let zone = try query.integer("zone", in: 1...Int64(ZoneID.maximum))
    let order = request.query["order"]
    guard order == nil || ["newest", "oldest"].contains(order) else {
      throw .validation("order", expected: "newest or oldest", got: "\"\(order!.prefix(40))\"")
    }
    return LogQuery(
      since: try instant("since", request), until: try instant("until", request),
      zone: zone.flatMap { ZoneID(Int($0)) },
      program: try query.integer("schedule", in: 1...Int64(Int32.max)).map { Int($0) },
      newestFirst: order.map { $0 == "newest" } ?? newestFirst)
  }

  private func instant(_ name: String, _ request: APIRequest) throws(APIError) -> WallInstant? {
    guard let text = request.query[name] else { return nil }
    guard let date = try? Date(text, strategy: .iso8601) else {
      throw .validation(name, expected: "an instant like 2026-05-01T00:00:00Z", got: "\"\(text.prefix(40))\"")
    }
    return WallInstant(secondsSince1970: Int64(date.timeIntervalSince1970))
  }

  private func stored<Value>(_ work: () throws(StoreError) -> Value) throws(APIError) -> Value {
    do throws(StoreError) {
      return try work()
    } catch {
      throw APIError(.serviceUnavailable, "STORE_FAILED", "\(error)")
    }
  }
}

private struct LogDocument: Encodable {
  let ok = true
  let runs: [WateringDocument]
  /// For `after` of the next page; null: there is none.
  @OrNull var next: String?
}
