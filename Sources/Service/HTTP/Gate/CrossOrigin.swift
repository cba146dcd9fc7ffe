import HTTPTypes

/// What pages of other origins may do (CORS): nothing, unless the configuration names their origin.
struct CrossOrigin: Sendable {
  /// `https://panel.example`, as browsers send it.
  let allowed: Set<String>

  init(_ origins: [String]) { allowed = Set(origins.map { $0.lowercased() }) }

  /// Fields that let a page of the request's origin read the answer; none when it may not.
  func fields(for request: HTTPRequest) -> HTTPFields {
    guard let origin = request.headerFields[.origin], allowed.contains(origin.lowercased()) else { return [:] }
    return [.accessControlAllowOrigin: origin, .vary: "Origin"]
  }

  /// The answer to a preflight request, or `nil` if the request is no preflight or its origin is not allowed.
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
