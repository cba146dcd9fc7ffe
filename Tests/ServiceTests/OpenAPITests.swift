import Foundation
import PumpDaemon
import ServiceSupport
import SprinklerDaemon
import TestSupport
import Testing

@testable import Service
@testable import TactusDaemon

@Suite("OpenAPI document", .ownThread)
struct OpenAPITests {
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

  // MARK: faults of simulations

  /// The members of a schema, or of a part of it.
  private func member(_ document: [String: Any], _ path: String...) -> Any? {
    var value: Any? = document
    for name in path { value = (value as? [String: Any])?[name] }
    return value
  }

  private func described(_ additions: APIAdditions) throws -> [String: Any] {
    let served: Set<String> = ["GET /api/sim/fault", "POST /api/sim/fault"]
    let bytes = OpenAPIDocument.bytes(version: "1.2.3", served: served, additions)
    return try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
  }

  /// Faults that may be asked for, with `fan: ` before those of a declared system.
  private func requests(_ document: [String: Any]) throws -> [[String]] {
    let variants = member(document, "components", "schemas", "FaultRequest", "oneOf")
    return try #require(variants as? [[String: Any]]).map { variant in
      let faults = member(variant, "properties", "fault", "enum") as? [String] ?? []
      let system = (member(variant, "properties", "system", "enum") as? [String])?.first
      return faults.map { (system.map { "\($0): " } ?? "") + $0 }
    }
  }

  @Test("faults: a program has those of its buses and of its declared systems, and its examples are among them")
  func faultsOfAProgram() throws {
    var additions = APIAdditions(title: "fan-daemon", busFaults: ["stuck-low", "gone"])
    additions.faults = ["fan": ["stall", "gone"]]
    let document = try described(additions)
    #expect(
      try requests(document) == [["gone"], ["stuck-low"], ["lane-stall"], ["clear"], ["fan: stall", "fan: gone"]])
    let inForce = member(document, "components", "schemas", "SimulatedFault", "properties")
    let members = try #require(inForce as? [String: Any])
    #expect(Set(members.keys) == ["fault", "bus", "line", "lane", "ms"])
    let names = member(document, "components", "schemas", "SimulatedFault", "properties", "fault", "enum")
    #expect(names as? [String] == ["gone", "stuck-low", "lane-stall"])
    let named = member(
      document, "components", "schemas", "Faults", "properties", "named", "items", "properties", "system", "enum")
    #expect(named as? [String] == ["fan"])
    let examples = member(
      document, "paths", "/api/sim/fault", "post", "requestBody", "content", "application/json", "examples")
    #expect((examples as? [String: Any])?.keys.sorted() == ["clear"])
  }

  @Test("faults: an example is on a bus that the program has")
  func examples() throws {
    var additions = APIAdditions(title: "kiln-daemon", busFaults: ["nak", "stuck-low"])
    additions.buses = ["kiln-gpio": ["stuck-low"], "kiln-i2c-1": ["nak"], "kiln-i2c-3": ["nak"]]
    let document = try described(additions)
    let bus = member(
      document, "paths", "/api/sim/fault", "post", "requestBody", "content", "application/json", "examples", "nak",
      "value", "bus")
    #expect(bus as? String == "kiln-i2c-1")
    let text = try #require(member(document, "info", "description") as? String)
    #expect(text.contains("`kiln-daemon`") && !text.contains("`tactus`"))
  }

  @Test("faults: where no declared system has one, nothing speaks of declared systems")
  func faultsWithoutDeclaredSystems() throws {
    for additions in [APIAdditions(), APIAdditions(busFaults: ["nak"])] {
      let document = try described(additions)
      #expect(try requests(document).joined().allSatisfy { !$0.contains(":") })
      #expect(member(document, "components", "schemas", "Faults", "properties", "named") == nil)
    }
    let nak = try described(APIAdditions(busFaults: ["nak"]))
    #expect(try requests(nak) == [["nak"], ["lane-stall"], ["clear"]])
  }

  @Test("faults: the document and the systems' parts describe every one that there is, each once")
  func everyFault() throws {
    let additions = APIAdditions(documents: [try #require(DeclaredKind(Pump.self).documents)])
    let all = try requests(described(additions)).flatMap(\.self)
    #expect(all.sorted() == SimulatedFault.Name.allCases.map(\.rawValue).sorted())
  }
}
