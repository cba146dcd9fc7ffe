@_spi(FromOutside) import Conversions
import Service
import Store
import Wire

/// Serves the rows of a table over HTTP, in pages and as CSV. Used on threads that may wait for a disk.
struct RowHistory: Sendable {
  let rows: StoredRows
  let shape: RowShape
  /// The name of the CSV file.
  let file: String

  private static let names = ["since", "until", "order"]

  func page(_ request: APIRequest) throws -> APIResponse {
    let query = try QueryReader(request.query, names: Self.names + ["limit", "after"])
    let limit = try query.integer("limit", in: 1...1_000)
    let after = try query.integer("after", in: 1...Int64.max)
    let which = try self.query(query, isNewestFirst: true, after: after, limit: Int(limit ?? 100))
    let page = try stored { () throws(StoreError) in try rows.page(which) }
    let document: JSONValue = .object([
      "ok": .boolean(true), "rows": .list(page.rows.map(shape.json)),
      "next": page.next.map { .number("\($0)") } ?? .null,
    ])
    return APIResponse(contentType: "application/json", body: document.bytes)
  }

  func csv(_ request: APIRequest) throws -> APIResponse {
    let query = try self.query(
      try QueryReader(request.query, names: Self.names), isNewestFirst: false, after: nil, limit: 500)
    // Once a piece of the file is on its way, a refusal comes too late.
    try stored { () throws(StoreError) in try rows.file.requireOpen() }
    let pieces = CSVPieces<Int64>(columns: shape.columns) { after throws(StoreError) in
      var query = query
      query.after = after
      let page = try rows.page(query)
      return (page.rows.map(shape.texts), page.next)
    }
    return .csv(pieces, file: file)
  }

  private func query(
    _ query: QueryReader, isNewestFirst: Bool, after: Int64?, limit: Int
  ) throws(APIError) -> StoredRows.Query {
    StoredRows.Query(
      since: try query.instant("since"), until: try query.instant("until"),
      isNewestFirst: try query.word("order", among: ["newest", "oldest"]).map { $0 == "newest" } ?? isNewestFirst,
      after: after, limit: limit)
  }
}
