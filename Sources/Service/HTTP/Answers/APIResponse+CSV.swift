import Store
import Synchronization

/// The lines of a CSV list, read one piece after another while they are sent.
private final class CSVLines<Position: Sendable>: Sendable {
  private let pieces: Mutex<CSVPieces<Position>>

  init(_ pieces: CSVPieces<Position>) { self.pieces = Mutex(pieces) }

  /// Returns the next piece, or `nil` after the last one.
  func next() throws -> [UInt8]? { try pieces.withLock { try $0.next() }.map { Array($0.utf8) } }
}

extension APIResponse {
  /// Returns a CSV file that is sent piece by piece, so that a list of many years is never in memory as a whole.
  public static func csv<Position>(_ pieces: CSVPieces<Position>, file name: String) -> APIResponse {
    let lines = CSVLines(pieces)
    var response = APIResponse(
      contentType: "text/csv; charset=utf-8",
      headers: [.contentDisposition: #"attachment; filename="\#(name)""#], body: [])
    response.pieces = { try lines.next() }
    return response
  }
}
