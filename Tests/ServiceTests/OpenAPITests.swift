import Foundation
import Testing

@testable import Service

@Suite("OpenAPI document", .ownThread)
struct OpenAPITests {
  /// What is served and is no part of the API.
  static let pages: Set<String> = ["GET /", "GET /console.css", "GET /console.js", "GET /legs.js"]
  /// Of other systems than those of this test, and what the table does not hold.
  static let elsewhere: Set<String> = ["GET /ws"]

  @Test("served: with the program's version, otherwise as written")
  func served() throws {
    let service = try RunningService()
    let reply = try service.request("GET", "/api/openapi.json")
    #expect(reply.status == 200)
    #expect((reply.json?["info"] as? [String: Any])?["version"] as? String == "1.2.3")
    let written = try JSONSerialization.jsonObject(with: Data(OpenAPIDocument.source)) as? [String: Any]
    #expect((reply.json?["paths"] as? NSDictionary) == (written?["paths"] as? NSDictionary))
  }

  @Test("the daemon's own routes are all in it")
  func complete() throws {
    let service = try RunningService(systems: [])
    let served = Set(service.service.table.routes.map { "\($0.method) \($0.path)" }).subtracting(Self.pages)
    let written = try #require(
      try JSONSerialization.jsonObject(with: Data(OpenAPIDocument.source)) as? [String: Any])
    let paths = try #require(written["paths"] as? [String: [String: Any]])
    let methods: Set<String> = ["get", "put", "post", "delete", "patch"]
    let described = Set(
      paths.flatMap { path, item in
        item.keys.filter { methods.contains($0) }.map { "\($0.uppercased()) \(path)" }
      })
    #expect(served.subtracting(described) == [], "served and not described")
  }
}
