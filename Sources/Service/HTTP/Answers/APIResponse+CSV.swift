import Store
import Synchronization

/// A list's CSV on its way out, one piece after another.
private final class CSVLines<Position: Sendable>: Sendable {
  private let pieces: Mutex<CSVPieces<Position>>

  init(_ pieces: CSVPieces<Position>) { self.pieces = Mutex(pieces) }

  /// The next piece; `nil` after the last one.
  func next() throws -> [UInt8]? { try pieces.withLock { try $0.next() }.map { Array($0.utf8) } }
}

extension APIResponse {
  /// A file of CSV. In pieces: the list of years need not be in memory.
  public static func csv<Position>(_ pieces: CSVPieces<Position>, file name: String) -> APIResponse {
    let lines = CSVLines(pieces)
    var response = APIResponse(
      contentType: "text/csv; charset=utf-8",
      headers: [.contentDisposition: #"attachment; filename="\#(name)""#], body: [])
    response.pieces = { try lines.next() }
    return response
  }
}
