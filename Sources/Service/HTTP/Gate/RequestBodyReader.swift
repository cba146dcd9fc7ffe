import HTTPTypes
import HummingbirdCore
import NIOCore

/// Takes a request's body whole, within the limit, and knows what to do with one that no handler took.
struct RequestBodyReader {
  /// A body that was not wanted is read to its end when it is no longer than this; otherwise the connection is closed.
  static let drainLimit = 65_536

  let request: Request
  /// Bytes.
  let limit: Int

  /// - Parameters:
  ///   - fileLimit: of a route that takes a file instead of JSON.
  ///   - taken: of the budget; to be given back when the body is done with, however this ends.
  /// - Throws: 413 `TOO_LARGE`, 415 `UNSUPPORTED_MEDIA_TYPE`, 503 `TOO_MANY_BODIES`; and what the connection's end throws.
  func read(fileLimit: Int? = nil, of budget: BodyBudget, taken: inout Int) async throws -> [UInt8] {
    let limit = fileLimit ?? self.limit
    guard announced <= limit else { throw tooLarge(limit) }
    guard budget.hold(announced, taken: &taken) else { throw tooMany }
    var body: [UInt8] = []
    for try await part in request.body {
      guard body.count + part.readableBytes <= limit else { throw tooLarge(limit) }
      guard budget.hold(body.count + part.readableBytes, taken: &taken) else { throw tooMany }
      body += part.readableBytesView
    }
    guard body.isEmpty || fileLimit != nil || isJSON else {
      throw APIError(
        .unsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE", "expected Content-Type: application/json")
    }
    return body
  }

  /// Whether the connection can take another request after this one was answered without reading its body.
  var canSkip: Bool { request.headers[.transferEncoding] == nil && announced <= Self.drainLimit }

  /// Whether the client waits for a go-ahead before it sends the body.
  func isAwaited(fileLimit: Int?) -> Bool {
    request.headers[.expect]?.lowercased() == "100-continue" && announced <= fileLimit ?? limit
  }

  /// Zero if the client does not say; a length that no integer holds is longer than any limit.
  private var announced: Int { request.headers[.contentLength].map { Int($0) ?? .max } ?? 0 }

  /// A body without a type is taken for JSON, the only thing it can be.
  private var isJSON: Bool {
    guard let type = request.headers[.contentType] else { return true }
    let name = type.prefix { $0 != ";" }
    return name.lowercased().filter { $0 != " " && $0 != "\t" } == "application/json"
  }

  private var tooMany: APIError {
    APIError(
      .serviceUnavailable, "TOO_MANY_BODIES", "too many large requests at a time: send it again",
      headers: [.retryAfter: "1"])
  }

  private func tooLarge(_ limit: Int) -> APIError {
    APIError(.contentTooLarge, "TOO_LARGE", "expected a body of at most \(limit) bytes")
  }
}
