import Foundation
import Testing

@testable import Service

@Suite("OpenAPI document: what is written out")
struct OpenAPIShorthandTests {
  private static func object(_ text: String) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  /// Compares objects as JSON.
  private func expect(_ found: [String: Any], _ text: String) throws {
    #expect(found as NSDictionary == (try Self.object(text)) as NSDictionary)
  }

  private func codes(_ operation: String, at path: String) throws -> [String] {
    let paths = OpenAPIShorthand.paths([path: ["post": try Self.object(operation)]])
    let described = try #require((paths[path] as? [String: Any])?["post"] as? [String: Any])
    #expect(described["errors"] == nil)
    return try #require(described["responses"] as? [String: Any]).keys.sorted()
  }

  @Test("errors: those of every request, of its parameters, of its body, and those that are listed")
  func errors() throws {
    let all = ["400", "401", "403", "405", "429"]
    #expect(try codes("{}", at: "/api/a") == all)
    #expect(try codes(#"{"responses": {"200": {}}, "errors": ["503"]}"#, at: "/api/a") == ["200"] + all + ["503"])
    #expect(try Set(codes("{}", at: "/api/a/{id}")) == Set(all + ["404", "414"]))
    #expect(
      try Set(codes(#"{"parameters": [{"in": "query"}, {"in": "path"}]}"#, at: "/api/a")) == Set(all + ["414", "422"]))
    let json = #"{"requestBody": {"content": {"application/json": {}}}}"#
    #expect(try Set(codes(json, at: "/api/a")) == Set(all + ["413", "415", "422"]))
    let other = #"{"requestBody": {"content": {"application/sdp": {}}}}"#
    #expect(try Set(codes(other, at: "/api/a")) == Set(all + ["413", "422"]))
  }

  @Test("the scope ends the description, and is all of it where there is none")
  func scope() throws {
    let paths = OpenAPIShorthand.paths([
      "/api/a": ["get": ["description": "Says it.", "scope": "read"], "put": ["scope": "admin"]]
    ])
    let item = try #require(paths["/api/a"] as? [String: [String: Any]])
    #expect(item["get"]?["description"] as? String == "Says it.\n\nScope: read.")
    #expect(item["put"]?["description"] as? String == "Scope: admin.")
    #expect(item.values.allSatisfy { $0["scope"] == nil })
  }

  @Test("like: written over the other schema, and what it requires is required besides")
  func like() throws {
    let schemas = try Self.object(
      """
      {"State": {"description": "It.", "required": ["a"], "properties": {"a": {"type": "integer"}}},
       "Whole": {"like": "State", "required": ["ok"], "properties": {"ok": {"type": "boolean"}}},
       "Part": {"like": "Whole", "required": null, "properties": {"ok": null, "a": {"minimum": 1}}}}
      """)
    try expect(
      try #require(OpenAPIShorthand.schemas(schemas)["Part"] as? [String: Any]),
      #"{"description": "It.", "properties": {"a": {"type": "integer", "minimum": 1}}}"#)
    try expect(
      try #require(OpenAPIShorthand.schemas(schemas)["Whole"] as? [String: Any]),
      """
      {"description": "It.", "required": ["a", "ok"],
       "properties": {"a": {"type": "integer"}, "ok": {"type": "boolean"}}}
      """)
  }

  @Test("as: a schema of its own with what is written under its name, and a reference in its place")
  func named() throws {
    let schemas = try Self.object(
      """
      {"State": {"properties": {
        "legs": {"type": "array", "items": {"as": "Leg", "type": "object", "properties": {
          "way": {"as": "Way", "type": ["object", "null"], "description": "To it.", "properties": {"up": {}}}}}}}},
       "Leg": {"description": "One."}, "Way": {"properties": {"up": {"type": "boolean"}}}}
      """)
    try expect(
      OpenAPIShorthand.schemas(schemas),
      """
      {"State": {"properties": {"legs": {"type": "array", "items": {"$ref": "#/components/schemas/Leg"}}}},
       "Leg": {"type": "object", "description": "One.", "properties": {
         "way": {"description": "To it.", "oneOf": [{"$ref": "#/components/schemas/Way"}, {"type": "null"}]}}},
       "Way": {"type": "object", "properties": {"up": {"type": "boolean"}}}}
      """)
  }

  @Test("written over: member by member; lists and references in place of what was there; null takes away")
  func over() throws {
    let made = try Self.object(
      #"{"a": {"b": 1, "c": [1, 2], "gone": 1}, "named": {"type": "object"}, "kept": true}"#)
    let own = try Self.object(
      ##"{"a": {"b": 2, "c": [3], "gone": null, "new": null}, "named": {"$ref": "#/x"}}"##)
    try expect(
      OpenAPIShorthand.written(own, over: made),
      ##"{"a": {"b": 2, "c": [3], "new": null}, "named": {"$ref": "#/x"}, "kept": true}"##)
  }
}
