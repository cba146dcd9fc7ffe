@_spi(FromOutside) import Conversions
import Foundation
import Service
import Sprinkler
import Store
import TactusDaemon
import WallTime

// The watering log, backup and restore.
extension SprinklerRoutes {
  /// The size of the largest file that `restore` accepts, bytes.
  static let longestBackup = 256 << 20

  /// The part of the store that is backed up and restored here.
  private static let part: Set = [StoreSystem.sprinkler.name]

  var recordRoutes: [Route] {
    var restore = Route(.post, "/api/sprinkler/restore", scope: .admin, action: "sprinkler.restore") {
      [self] request in
      guard !request.body.isEmpty else {
        throw APIError(
          .badRequest, "BODY_MISSING", "expected the file that GET /api/sprinkler/backup gave, got nothing")
      }
      let backup = try desk.store.file.checked(request.body, parts: Self.part, at: desk.wallNow)
      try await desk.restore(backup, request.caller)
      return done(logValue: "bytes=\(request.body.count)")
    }
    restore.fileLimit = Self.longestBackup
    let short = [
      Route(.get, "/api/log") { [self] request in try log(request) },
      Route(.get, "/api/log.csv") { [self] request in try logCSV(request) },
    ]
    let long = [
      Route(.get, "/api/sprinkler/backup", scope: .admin, action: "sprinkler.backup") { [self] _ in
        let bytes = try stored { () throws(StoreError) in try desk.store.file.backup(parts: Self.part) }
        return APIResponse(
          contentType: "application/vnd.sqlite3",
          headers: [.contentDisposition: #"attachment; filename="tactus-sprinkler.sqlite""#], body: bytes,
          logValue: "bytes=\(bytes.count)")
      },
      restore,
    ]
    return short.map { $0.waitingForDisk() } + long.map { $0.waitingForDisk(longest: DiskThreads.longPatience) }
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
    let (which, limit) = (try logQuery(query, newestFirst: true), try query.integer("limit", in: 1...1000))
    let page = try stored { () throws(StoreError) in
      try desk.store.log(which, after: after, limit: Int(limit ?? 100))
    }
    return APIResponse(LogAnswer(page: page))
  }

  private func logCSV(_ request: APIRequest) throws -> APIResponse {
    let query = try QueryReader(request.query, names: Self.names)
    return .csv(
      desk.store.logCSV(try logQuery(query, newestFirst: false), zone: description.timeZone), file: "watering-log.csv")
  }

  private func logQuery(_ query: QueryReader, newestFirst: Bool) throws(APIError) -> LogQuery {
    let zone = try query.integer("zone", in: 1...Int64(ZoneID.maximum))
    return LogQuery(
      since: try query.instant("since"), until: try query.instant("until"),
      zone: zone.flatMap { ZoneID(Int($0)) },
      program: try query.integer("schedule", in: 1...Int64(Int32.max)).map { Int($0) },
      newestFirst: try query.word("order", among: ["newest", "oldest"]).map { $0 == "newest" } ?? newestFirst)
  }
}
