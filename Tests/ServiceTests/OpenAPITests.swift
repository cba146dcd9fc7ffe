import Foundation
import TestSupport
import Testing

@testable import Service

@Suite("OpenAPI document", .ownThread)
struct OpenAPITests {
  @Test("served: with the program's version, otherwise as written; of the routes those that this service has")
  func served() throws {
    let service = try RunningService(routes: [
      Route(.put, "/api/log-level") { _ in throw APIError.notFound("x") },
      Route(.post, "/api/zone/{id}/on") { _ in throw APIError.notFound("x") },
    ])
    let reply = try service.request("GET", "/api/openapi.json")
    #expect(reply.status == 200)
    #expect((reply.json?["info"] as? [String: Any])?["version"] as? String == "1.2.3")
    let written = try JSONSerialization.jsonObject(with: Data(OpenAPIDocument.source)) as? [String: Any]
    let all = try #require(written?["paths"] as? [String: [String: Any]])
    let paths = try #require(reply.json?["paths"] as? [String: [String: Any]])
    #expect(
      Set(paths.keys) == [
        "/api/status", "/api/health", "/api/openapi.json", "/api/e-stop", "/api/reset", "/ws", "/api/log-level",
        "/api/zone/{id}/on",
      ])
    for (path, item) in paths where path != "/api/log-level" {
      #expect(item as NSDictionary == all[path].map { $0 as NSDictionary }, "\(path)")
    }
    #expect(paths["/api/log-level"]?["get"] == nil && paths["/api/log-level"]?["put"] != nil)
    #expect(reply.json?["components"] as? NSDictionary == written?["components"] as? NSDictionary)
  }
}
