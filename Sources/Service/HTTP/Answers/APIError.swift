import HTTPTypes

/// What goes wrong with a request. On the wire `{"ok":false,"code":…,"message":…}`.
public struct APIError: Error, Sendable, Hashable {
  /// HTTP status of the answer, 4xx or 5xx.
  public let status: HTTPResponse.Status
  /// SCREAMING_SNAKE; the requirement's TOKEN_EXPIRED, ZONE_DENY, GPIO_BUSY and VALIDATION among them.
  public let code: String
  /// For people: names the field, the position, what was expected and what came.
  public let message: String
  /// What was wrong: `zones[2].minutes`; nil when it is no field.
  public let field: String?
  /// Extra header fields: Allow, Retry-After, WWW-Authenticate.
  public let headers: HTTPFields

  /// - Parameters:
  ///   - code: for programs, in SCREAMING_SNAKE.
  ///   - message: for people.
  ///   - field: the field or parameter that was wrong, or `nil` if the error is about no single field.
  public init(
    _ status: HTTPResponse.Status, _ code: String, _ message: String, field: String? = nil, headers: HTTPFields = [:]
  ) {
    self.status = status
    self.code = code
    self.message = message
    self.field = field
    self.headers = headers
  }
}

extension APIError {
  /// 404 `NOT_FOUND`. `what` is the whole message: what is missing, and where to find what there is.
  public static func notFound(_ what: String) -> APIError { APIError(.notFound, "NOT_FOUND", what) }

  /// A value that is well-formed and wrong: 422 with its field.
  public static func validation(_ field: String, expected: String, got: String) -> APIError {
    APIError(.unprocessableContent, "VALIDATION", "\(field): expected \(expected), got \(got)", field: field)
  }

  /// A request that is fine and cannot be done now: 409.
  public static func conflict(_ code: String, _ message: String) -> APIError { APIError(.conflict, code, message) }
}
