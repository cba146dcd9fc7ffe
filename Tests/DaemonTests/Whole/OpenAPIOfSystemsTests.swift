import Foundation
import PumpDaemon
import ServiceSupport
import SprinklerDaemon
import TestSupport
import Testing

@testable import Service
@testable import TactusDaemon

@Suite("OpenAPI document with the parts of systems", .ownThread)
struct OpenAPIOfSystemsTests: ReadsOpenAPI {
  @Test("served: with the program's version, otherwise as written; of the routes those that this service has")
  func served() throws {
    let documents = [try #require(DeclaredKind(Sprinkler.self).documents)]
    let service = try RunningService(
      routes: [
        Route(.put, "/api/log-level") { _ in throw APIError.notFound("x") },
        Route(.post, "/api/zone/{id}/on") { _ in throw APIError.notFound("x") },
      ], additions: APIAdditions(documents: documents))
    let reply = try service.request("GET", "/api/openapi.json")
    #expect(reply.status == 200)
    #expect((reply.json?["info"] as? [String: Any])?["version"] as? String == "1.2.3")
    let written = OpenAPIDocument.written(documents)
    let all = try #require(written["paths"] as? [String: [String: Any]])
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
    // Of the schemas those that they lead to: the sprinkler's zones, for its part of the status, and no log lines.
    let schemas = try #require(member(reply.json ?? [:], "components", "schemas") as? [String: [String: Any]])
    let writtenSchemas = try #require(member(written, "components", "schemas") as? [String: [String: Any]])
    for (name, schema) in schemas {
      #expect(schema as NSDictionary == writtenSchemas[name].map { $0 as NSDictionary }, "\(name)")
    }
    #expect(schemas["Status"] != nil && schemas["Zone"] != nil && schemas["LogPage"] == nil)
    #expect(
      (reply.json?["tags"] as? [[String: Any]])?.compactMap { $0["name"] as? String } == [
        "daemon", "logs", "live", "sprinkler",
      ])
  }

  @Test(
    "the parts of systems: members of both, lists one behind the other; a system that is not there is not described")
  func parts() throws {
    let none = OpenAPIDocument.written([])
    let one = OpenAPIDocument.written([try #require(DeclaredKind(Sprinkler.self).documents)])
    #expect(member(none, "paths", "/api/sprinkler") == nil && member(one, "paths", "/api/sprinkler") != nil)
    let states = member(none, "components", "schemas", "Status", "properties", "systems", "properties")
    #expect((states as? [String: Any])?.isEmpty == true)
    let known = member(one, "components", "schemas", "Status", "properties", "systems", "properties")
    #expect((known as? [String: Any])?.keys.sorted() == ["sprinkler"])
    #expect(member(one, "components", "schemas", "Status", "properties", "version") != nil)
  }

  @Test("faults: the document and the systems' parts describe every one that there is, each once")
  func everyFault() throws {
    let additions = APIAdditions(documents: [try #require(DeclaredKind(Pump.self).documents)])
    let all = try requests(described(additions)).flatMap(\.self)
    #expect(all.sorted() == SimulatedFault.Name.allCases.map(\.rawValue).sorted())
  }
}
