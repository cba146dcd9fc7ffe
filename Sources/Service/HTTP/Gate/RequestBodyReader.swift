@_spi(FromOutside) import Conversions
import HTTPTypes
import NIOCore

/// Reads a request's body completely, within its limit, and decides whether a body that no handler has read can be skipped.
struct RequestBodyReader {
  /// The greatest length in bytes of an unread body that is skipped; after a longer one the connection is closed.
  static let drainLimit = 65_536

  let head: HTTPRequest
  let arriving: ArrivingRequests
  /// The greatest length of a JSON body in bytes.
  let limit: Int

  /// Returns the whole body.
  ///
  /// - Parameters:
  ///   - route: decides whether the body is JSON or a file, and how long a file may be.
  ///   - taken: the bytes held in the budget, to be given back when the body has been processed, whatever the result is.
  /// - Throws: 413 `TOO_LARGE`, 415 `UNSUPPORTED_MEDIA_TYPE`, 503 `TOO_MANY_BODIES`; errors of a connection that ends, also within the body.
  func read(for route: Route, of budget: BodyBudget, taken: inout Int) async throws -> [UInt8] {
    let limit = route.fileLimit ?? self.limit
    guard announced <= limit else { throw tooLarge(limit) }
    guard budget.hold(announced, taken: &taken) else { throw tooMany }
    var body: [UInt8] = []
    while let part = try await arriving.nextPiece() {
      guard body.count + part.readableBytes <= limit else { throw tooLarge(limit) }
      guard budget.hold(body.count + part.readableBytes, taken: &taken) else { throw tooMany }
      body += part.readableBytesView
    }
    let wanted = route.fileLimit == nil ? "application/json" : route.fileType
    if let wanted, !body.isEmpty, let type, type != wanted {
      throw APIError(.unsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE", "expected Content-Type: \(wanted)")
    }
    return body
  }

  /// Whether the connection can be used for another request after this one was answered without reading its body.
  var canSkip: Bool { head.headerFields[.transferEncoding] == nil && announced <= Self.drainLimit }

  /// Returns whether the client waits for `100 Continue` before it sends the body.
  func isAwaited(fileLimit: Int?) -> Bool {
    head.headerFields[.expect]?.lowercased() == "100-continue" && announced <= fileLimit ?? limit
  }

  /// The length of the body as announced by the client, 0 if it announces none, or `Int.max` if the length does not fit an integer.
  private var announced: Int { head.headerFields[.contentLength].map { Int($0) ?? .max } ?? 0 }

  /// The content type without its parameters, in lower case, or `nil` if the client names none: the body is then taken for what the route
  /// accepts.
  private var type: String? {
    head.headerFields[.contentType]?.prefix { $0 != ";" }.lowercased().filter { $0 != " " && $0 != "\t" }
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
