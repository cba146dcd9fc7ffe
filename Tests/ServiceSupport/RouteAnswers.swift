import Foundation
import HTTPTypes
import Service
import Testing

extension [Route] {
  /// What the handler of a route says, without a server: `path` is as in the table or with values for its parameters.
  package func answer(
    _ method: HTTPRequest.Method, _ path: String, query: [String: String] = [:], body: String = "",
    scope: Scope = .admin
  ) async throws -> APIResponse {
    for route in self where route.method == method {
      guard let parameters = Self.match(route.path, path) else { continue }
      let caller = Caller(scope: scope, tokenID: nil, address: "192.0.2.1", client: 1)
      let request = APIRequest(caller: caller, parameters: parameters, query: query, body: [UInt8](body.utf8))
      guard case .handler(let handler) = route.handling else { preconditionFailure("a prepared document") }
      return try await handler(request)
    }
    preconditionFailure("no route \(method) \(path)")
  }

  private static func match(_ pattern: String, _ path: String) -> [String: String]? {
    let (pattern, path) = (pattern.split(separator: "/"), path.split(separator: "/"))
    guard pattern.count == path.count else { return nil }
    var parameters: [String: String] = [:]
    for (part, segment) in zip(pattern, path) {
      if part.hasPrefix("{") {
        parameters[String(part.dropFirst().dropLast())] = String(segment)
      } else if part != segment {
        return nil
      }
    }
    return parameters
  }
}

extension APIResponse {
  package func object() throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any])
  }
}
