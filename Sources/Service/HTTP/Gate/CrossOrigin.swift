import HTTPTypes

/// The access of web pages from other origins (CORS): none, unless the configuration lists the origin.
struct CrossOrigin: Sendable {
  /// The allowed origins, such as `https://panel.example`.
  let allowed: Set<Origin>

  init(_ origins: [String]) { allowed = Set(origins.compactMap { Origin($0) }) }

  /// Returns the header fields that let a page of the request's origin read the answer, or no fields if the origin is not allowed.
  func fields(for request: HTTPRequest) -> HTTPFields {
    guard let origin = request.headerFields[.origin], Origin(origin).map(allowed.contains) == true else { return [:] }
    return [.accessControlAllowOrigin: origin, .accessControlExposeHeaders: "Location", .vary: "Origin"]
  }

  /// Returns the answer to a preflight request, or `nil` if the request is no preflight or its origin is not allowed.
  func preflight(_ request: HTTPRequest, allow: String) -> APIResponse? {
    let fields = fields(for: request)
    guard !fields.isEmpty, request.headerFields[.accessControlRequestMethod] != nil else { return nil }
    var response = APIResponse(.noContent, contentType: "", headers: fields, body: [])
    response.headers[.accessControlAllowMethods] = allow
    response.headers[.accessControlAllowHeaders] = "Authorization, Content-Type"
    response.headers[.accessControlMaxAge] = "600"
    return response
  }
}
