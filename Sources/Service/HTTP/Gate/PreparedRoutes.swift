import NIOCore

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
      let start = "\r\ncontent-type: \(document.contentType)\r\n\(answerHeaderText)content-length: "
      entries[route.path] = Entry(scope: route.scope, document: document, headStart: start)
    }
    self.entries = entries
  }

  /// The entry for a request's whole target: one with a query is the responder's.
  func entry(_ target: String) -> Entry? { entries[target] }
}

extension PreparedRoutes.Entry {
  /// The newest.
  var content: PreparedDocument.Content { document.content }

  /// The answer as it is written: a long body is not copied, all connections share its bytes.
  func answer(
    _ content: PreparedDocument.Content, isHead: Bool, connection: ConnectionField, allocator: ByteBufferAllocator
  ) -> [ByteBuffer] {
    let body = content.bytes
    let isShort = body.readableBytes <= APIAnswer.pieceBytes
    var answer = allocator.buffer(capacity: headStart.utf8.count + 96 + (isHead || !isShort ? 0 : body.readableBytes))
    answer.writeStaticString("HTTP/1.1 ")
    answer.writeString(String(content.status.code))
    answer.writeStaticString(" ")
    answer.writeString(content.status.reasonPhrase)
    answer.writeString(headStart)
    answer.writeString(String(body.readableBytes))
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
