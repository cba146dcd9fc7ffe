import HTTPTypes
import NIOCore
import NIOHTTP1

/// The routes that are answered from prepared bytes, by path. Each entry holds the constant part of its answer's head.
struct PreparedRoutes: Sendable {
  struct Entry: Sendable {
    let scope: Scope?
    fileprivate let document: PreparedDocument
    fileprivate let headStart: String
  }

  private let entries: [String: Entry]

  init(_ routes: [Route]) {
    var entries: [String: Entry] = [:]
    for route in routes {
      guard case .prepared(let document) = route.handling, !route.path.contains("{") else { continue }
      let fields =
        document.keeping == .never
        ? answerHeaderText
        : answerHeaderText.replacing("no-store", with: document.keeping.rawValue) + "vary: accept-encoding\r\n"
      let framing = document.framePolicy.map {
        fields.replacing("x-frame-options: DENY", with: "content-security-policy: \($0)")
      }
      let start = "\r\ncontent-type: \(document.contentType)\r\n\(framing ?? fields)"
      entries[route.path] = Entry(scope: route.scope, document: document, headStart: start)
    }
    self.entries = entries
  }

  /// Returns the entry for a request's whole target, or `nil` if the responder must answer, as for every target with a query.
  func entry(_ target: String) -> Entry? { entries[target] }
}

extension PreparedRoutes.Entry {
  /// The present content of the document.
  private var content: PreparedDocument.Content { document.content }

  /// Returns the answer to a request with these header fields: 304 if the client has the present file, gzip if the client accepts that.
  func answer(to headers: HTTPHeaders) -> PreparedAnswer {
    let content = content
    guard let file = content.file, content.status == .ok else {
      return PreparedAnswer(status: content.status, body: content.bytes, head: headStart)
    }
    let head = headStart + "etag: " + file.tag + "\r\n"
    if file.isKnown(headers) { return PreparedAnswer(status: .notModified, body: ByteBuffer(), head: head) }
    guard let gzip = file.gzip, PreparedFile.takesGzip(headers[canonicalForm: "accept-encoding"]) else {
      return PreparedAnswer(status: .ok, body: content.bytes, head: head)
    }
    return PreparedAnswer(status: .ok, body: gzip, head: head + "content-encoding: gzip\r\n")
  }
}

/// An answer from prepared bytes.
struct PreparedAnswer {
  let status: HTTPResponse.Status
  let body: ByteBuffer
  /// The text from the end of the status line to the start of the `content-length` field.
  fileprivate let head: String

  fileprivate init(status: HTTPResponse.Status, body: ByteBuffer, head: String) {
    (self.status, self.body, self.head) = (status, body, head)
  }

  /// Returns the bytes of the answer. A long body is not copied; all connections share its bytes.
  func bytes(isHead: Bool, connection: ConnectionField, allocator: ByteBufferAllocator) -> [ByteBuffer] {
    let isShort = body.readableBytes <= APIAnswer.pieceBytes
    var answer = allocator.buffer(capacity: head.utf8.count + 133 + (isHead || !isShort ? 0 : body.readableBytes))
    answer.writeStaticString("HTTP/1.1 ")
    answer.writeString(String(status.code))
    answer.writeStaticString(" ")
    answer.writeString(status.reasonPhrase)
    answer.writeString(head)
    answer.writeString(HTTPDate.line)
    // An answer with status 304 has neither a body nor a length.
    if status == .notModified {
      answer.moveWriterIndex(to: answer.writerIndex - 2)
    } else {
      answer.writeStaticString("content-length: ")
      answer.writeString(String(body.readableBytes))
    }
    answer.writeStaticString(connection.endOfHead)
    guard !isHead else { return [answer] }
    guard isShort else { return [answer, body] }
    answer.writeImmutableBuffer(body)
    return [answer]
  }
}

/// The `Connection` field of an answer.
enum ConnectionField {
  /// The field is left out: an HTTP/1.1 connection stays open.
  case unsaid
  /// The field is `keep-alive`, for an HTTP/1.0 client that asked for it.
  case keepAlive
  case close

  /// The end of the head, starting after the value of the last field.
  fileprivate var endOfHead: StaticString {
    switch self {
    case .unsaid: "\r\n\r\n"
    case .keepAlive: "\r\nconnection: keep-alive\r\n\r\n"
    case .close: "\r\nconnection: close\r\n\r\n"
    }
  }
}

/// The header fields of every answer. They forbid guessed content types, caching, referrers and framing by other pages,
/// where a click may not be what it seems.
let answerHeaders = [
  ("x-content-type-options", "nosniff"), ("cache-control", "no-store"), ("referrer-policy", "no-referrer"),
  ("x-frame-options", "DENY"),
]
private let answerHeaderText = answerHeaders.map { "\($0): \($1)\r\n" }.joined()

extension APIError {
  /// Returns the bytes of the complete answer, for requests that are refused before they reach the router.
  func answer(isHead: Bool, connection: ConnectionField, allocator: ByteBufferAllocator) -> ByteBuffer {
    let body = response.body
    var answer = allocator.buffer(capacity: 512)
    answer.writeString("HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\ncontent-type: application/json\r\n")
    answer.writeString(answerHeaderText)
    answer.writeString(HTTPDate.line)
    for field in headers { answer.writeString("\(field.name.rawName): \(field.value)\r\n") }
    answer.writeString("content-length: \(body.count)")
    answer.writeStaticString(connection.endOfHead)
    if !isHead { answer.writeBytes(body) }
    return answer
  }
}
