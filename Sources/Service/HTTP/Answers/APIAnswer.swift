import HTTPTypes
import NIOCore

/// The body of an answer, piece by piece.
struct AnswerBody {
  /// The number of pieces that are written in one turn. Writing them takes about a tenth of a millisecond, so eight
  /// connections take about one millisecond in each turn.
  static let piecesOfTurn = 4

  private var rest: ByteBuffer
  private var taken = 0

  init(_ bytes: ByteBuffer) { rest = bytes }

  /// The number of bytes that are left.
  var count: Int { rest.readableBytes }

  /// Returns the next piece and whether other connections get a turn after it, or `nil` after the last one.
  mutating func next() -> (bytes: ByteBuffer, endsTurn: Bool)? {
    guard count > 0, let piece = rest.readSlice(length: min(APIAnswer.pieceBytes, count)) else { return nil }
    taken += 1
    return (piece, count > 0 && taken % Self.piecesOfTurn == 0)
  }
}

/// A response in the form in which it is written to the client.
struct APIAnswer {
  /// A longer body is written in pieces of this length, so that only one piece waits for a client that does not read.
  static let pieceBytes = 32 * 1024

  var head: HTTPResponse
  var body: ByteBuffer
  /// Whether the body's bytes are those of a prepared document, which all clients share.
  var isShared = false
  /// Whether the request's body has been read.
  var bodyWasRead = false
  /// Returns the body piece by piece, in place of `body`, or is `nil` if `body` is the whole body.
  var pieces: (@Sendable () async throws -> [UInt8]?)?
  /// The admission of the request, which is checked again while pieces are sent, or `nil` if the request did not reach a handler.
  var admission: LastingAdmission?

  init(_ status: HTTPResponse.Status = .ok, contentType: String, headers: HTTPFields = [:], body: ByteBuffer) {
    head = HTTPResponse(status: status, headerFields: headers)
    self.body = body
    guard status != .noContent else { return }
    head.headerFields[.contentType] = contentType
    head.headerFields[.contentLength] = String(body.readableBytes)
    head.headerFields[.cacheControl] = head.headerFields[.cacheControl] ?? "no-store"
    head.headerFields[.xContentTypeOptions] = "nosniff"
  }

  init(_ response: APIResponse) {
    self.init(
      response.status, contentType: response.contentType, headers: response.headers,
      body: ByteBuffer(bytes: response.body))
    pieces = response.pieces
    if pieces != nil { head.headerFields[.contentLength] = nil }
  }
}
