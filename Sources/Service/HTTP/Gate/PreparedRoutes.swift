import HTTPTypes
import NIOCore
import NIOHTTP1

/// The routes that are answered from prepared bytes, by path, each with the unchanging part of its answer's head.
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
      let start = "\r\ncontent-type: \(document.contentType)\r\n\(document.isFile ? fileHeaderText : answerHeaderText)"
      entries[route.path] = Entry(scope: route.scope, document: document, headStart: start)
    }
    self.entries = entries
  }

  /// The entry for a request's whole target: one with a query is the responder's.
  func entry(_ target: String) -> Entry? { entries[target] }
}

extension PreparedRoutes.Entry {
  /// The newest.
  private var content: PreparedDocument.Content { document.content }

  /// The answer to a request of these fields: of a file what the client has not got yet, in the form that it takes.
  func answer(to headers: HTTPHeaders) -> PreparedAnswer {
    let content = content
    guard let file = content.file, content.status == .ok else {
      return PreparedAnswer(status: content.status, body: content.bytes, head: headStart)
    }
    let head = headStart + "etag: " + file.tag + "\r\n"
    if file.isKnown(headers) { return PreparedAnswer(status: .notModified, body: ByteBuffer(), head: head) }
    guard let gzip = file.gzip, PreparedFile.takesGzip(headers) else {
      return PreparedAnswer(status: .ok, body: content.bytes, head: head)
    }
    return PreparedAnswer(status: .ok, body: gzip, head: head + "content-encoding: gzip\r\n")
  }
}

/// An answer from prepared bytes.
struct PreparedAnswer {
  let status: HTTPResponse.Status
  let body: ByteBuffer
  /// From the end of the status line to the field of the length.
  fileprivate let head: String

  fileprivate init(status: HTTPResponse.Status, body: ByteBuffer, head: String) {
    (self.status, self.body, self.head) = (status, body, head)
  }

  /// As it is written: a long body is not copied, all connections share its bytes.
  func bytes(isHead: Bool, connection: ConnectionField, allocator: ByteBufferAllocator) -> [ByteBuffer] {
    let isShort = body.readableBytes <= APIAnswer.pieceBytes
    var answer = allocator.buffer(capacity: head.utf8.count + 96 + (isHead || !isShort ? 0 : body.readableBytes))
    answer.writeStaticString("HTTP/1.1 ")
    answer.writeString(String(status.code))
    answer.writeStaticString(" ")
    answer.writeString(status.reasonPhrase)
    answer.writeString(head)
    // An answer 304 has no body, and no length of one.
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

/// What the `Connection` field of an answer says.
enum ConnectionField {
  /// Nothing: HTTP/1.1 stays open.
  case unsaid
  /// To an HTTP/1.0 client that asked for it.
  case keepAlive
  case close

  /// The end of a head, from behind the last field's value.
  fileprivate var endOfHead: StaticString {
    switch self {
    case .unsaid: "\r\n\r\n"
    case .keepAlive: "\r\nconnection: keep-alive\r\n\r\n"
    case .close: "\r\nconnection: close\r\n\r\n"
    }
  }
}

/// On every answer: guessed content types, caches, referrers and frames of other pages, in which a click is not what it seems, have no
/// business here.
let answerHeaders = [
  ("x-content-type-options", "nosniff"), ("cache-control", "no-store"), ("referrer-policy", "no-referrer"),
  ("x-frame-options", "DENY"),
]
private let fileHeaderText = answerHeaderText.replacing("no-store", with: "no-cache") + "vary: accept-encoding\r\n"
private let answerHeaderText = answerHeaders.map { "\($0): \($1)\r\n" }.joined()

extension APIError {
  /// The whole answer, for where the router does not come in.
  func answer(isHead: Bool, connection: ConnectionField, allocator: ByteBufferAllocator) -> ByteBuffer {
    let body = response.body
    var answer = allocator.buffer(capacity: 512)
    answer.writeString("HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\ncontent-type: application/json\r\n")
    answer.writeString(answerHeaderText)
    for field in headers { answer.writeString("\(field.name.rawName): \(field.value)\r\n") }
    answer.writeString("content-length: \(body.count)")
    answer.writeStaticString(connection.endOfHead)
    if !isHead { answer.writeBytes(body) }
    return answer
  }
}
