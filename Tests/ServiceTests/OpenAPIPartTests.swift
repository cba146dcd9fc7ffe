import Foundation
import Testing

@testable import Service

@Suite("OpenAPI document: the words of its parts")
struct OpenAPIPartTests {
  /// Compares a part without its words as JSON.
  private func expect(_ part: String, _ plain: String) throws {
    let object = try #require(try JSONSerialization.jsonObject(with: Data(plain.utf8)) as? [String: Any])
    #expect(OpenAPIPart.plain(Array(part.utf8), "a part") as NSDictionary == object as NSDictionary)
  }

  @Test("routes: operations by path and method; the part's tag where there is a scope and no tag")
  func routes() throws {
    try expect(
      """
      {"tags": [{"name": "kiln"}], "routes": {
        "GET /api/kiln": {"summary": "It."}, "PUT /api/kiln": {"scope": "admin"},
        "GET /api/sim/kiln": {"scope": "read", "tags": ["simulation"]}}}
      """,
      """
      {"tags": [{"name": "kiln"}], "paths": {
        "/api/kiln": {"get": {"summary": "It."}, "put": {"scope": "admin", "tags": ["kiln"]}},
        "/api/sim/kiln": {"get": {"scope": "read", "tags": ["simulation"]}}}}
      """)
  }

  @Test("parameters: those in the path, by its end up to them, then those of the query")
  func parameters() throws {
    try expect(
      """
      {"parameters": {"kiln/{id}": {"type": "integer", "description": "Which."}, "plan/{id}": {"type": "string"}},
       "routes": {
         "GET /api/kiln/{id}": {}, "GET /api/kiln": {},
         "GET /api/plan/{id}/next": {"query": {
           "count": {"required": false, "type": "integer?", "minimum": 1, "example": 2}, "user": {"type": "string"}}}}}
      """,
      """
      {"paths": {
        "/api/kiln/{id}": {"get": {"parameters": [
          {"name": "id", "in": "path", "required": true, "description": "Which.", "schema": {"type": "integer"}}]}},
        "/api/kiln": {"get": {}},
        "/api/plan/{id}/next": {"get": {"parameters": [
          {"name": "id", "in": "path", "required": true, "schema": {"type": "string"}},
          {"name": "count", "in": "query", "required": false, "example": 2,
           "schema": {"type": ["integer", "null"], "minimum": 1}},
          {"name": "user", "in": "query", "schema": {"type": "string"}}]}}}}
      """)
  }

  @Test("takes: a body in JSON that must or may be there, with examples by name; only examples; another body")
  func takes() throws {
    try expect(
      """
      {"routes": {
        "PUT /a": {"takes": "Zone", "examples": {"one": {"schema": 1}, "two": [2]}},
        "PUT /b": {"takes?": {"members": {"on": "boolean"}}, "example": {"on": true}},
        "PUT /c": {"examples": {"one": 1}},
        "PUT /d": {"requestBody": {"required": true, "content": {"text/csv": {"schema": {"type": "string"}}}}},
        "PUT /e": {"requestBody": {"schema": {"required": null, "not": "null"}}}}}
      """,
      ##"""
      {"paths": {
        "/a": {"put": {"requestBody": {"required": true, "content": {"application/json": {
          "schema": {"$ref": "#/components/schemas/Zone"},
          "examples": {"one": {"value": {"schema": 1}}, "two": {"value": [2]}}}}}}},
        "/b": {"put": {"requestBody": {"required": false, "content": {"application/json": {
          "schema": {"type": "object", "required": ["on"], "properties": {"on": {"type": "boolean"}},
            "additionalProperties": false},
          "example": {"on": true}}}}}},
        "/c": {"put": {"requestBody": {"content": {"application/json": {"examples": {"one": {"value": 1}}}}}}},
        "/d": {"put": {"requestBody": {"required": true, "content": {"text/csv": {"schema": {"type": "string"}}}}}},
        "/e": {"put": {"requestBody": {"content": {"application/json": {
          "schema": {"required": null, "not": {"type": "null"}}}}}}}}}
      """##)
  }

  @Test("answers: with status 200, a schema alone is Done.; other status, other content, and the document's responses")
  func answers() throws {
    try expect(
      """
      {"routes": {
        "GET /a": {"answers": "[Zone]"}, "GET /b": {"answers": {"example": {"type": "integer?"}}},
        "GET /c": {
          "answers": {"description": "Text.", "content": {"text/csv": {"schema": {"type": "string"}}}},
          "responses": {"201": {"description": "Made.", "headers": {"A": {}}, "schema": "Zone"}, "101": {"description": "Open."}}}},
       "components": {"responses": {"Locked": {"description": "It is.", "schema": "Error", "example": {"ok": false}}}}}
      """,
      ##"""
      {"paths": {
        "/a": {"get": {"responses": {"200": {"description": "Done.", "content": {"application/json": {
          "schema": {"type": "array", "items": {"$ref": "#/components/schemas/Zone"}}}}}}}},
        "/b": {"get": {"responses": {"200": {"content": {"application/json": {"example": {"type": "integer?"}}}}}}},
        "/c": {"get": {"responses": {
          "200": {"description": "Text.", "content": {"text/csv": {"schema": {"type": "string"}}}},
          "201": {"description": "Made.", "headers": {"A": {}}, "content": {"application/json": {
            "schema": {"$ref": "#/components/schemas/Zone"}}}},
          "101": {"description": "Open."}}}}},
       "components": {"responses": {"Locked": {"description": "It is.", "content": {"application/json": {
         "schema": {"$ref": "#/components/schemas/Error"}, "example": {"ok": false}}}}}}}
      """##)
  }

  @Test("members: an object without others; its members are required in their order, except those with a question mark")
  func members() throws {
    try expect(
      """
      {"components": {"schemas": {
        "Zone": {"description": "One.", "members": {
          "zone": "integer", "alias?": {"type": "string?", "enum": ["a", null]}, "area": {"type": "object?", "members": {}}}},
        "Change": {"like": "Zone", "members": {"zone?": "integer?"}}}}}
      """,
      """
      {"components": {"schemas": {
        "Zone": {"description": "One.", "type": "object", "required": ["zone", "area"], "additionalProperties": false,
          "properties": {
            "zone": {"type": "integer"}, "alias": {"type": ["string", "null"], "enum": ["a", null]},
            "area": {"type": ["object", "null"], "properties": {}, "additionalProperties": false}}},
        "Change": {"like": "Zone", "type": "object", "properties": {"zone": {"type": ["integer", "null"]}},
          "additionalProperties": false}}}}
      """)
  }

  @Test("types: a name, with null, of a list; within a schema, and not within a value")
  func types() throws {
    try expect(
      """
      {"components": {"schemas": {"A": {
        "properties": {"type": "string", "items": "B", "gone": null, "list": {"type": "[[integer?]]?", "minItems": 1}},
        "items": {"oneOf": ["B", {"allOf": ["C", {"anyOf": ["null"]}]}]}, "additionalProperties": "string?",
        "const": "string", "default": {"type": "string?"}, "enum": ["B"], "example": {"items": "B"}}}}}
      """,
      ##"""
      {"components": {"schemas": {"A": {
        "properties": {
          "type": {"type": "string"}, "items": {"$ref": "#/components/schemas/B"}, "gone": null,
          "list": {"type": ["array", "null"], "minItems": 1,
            "items": {"type": "array", "items": {"type": ["integer", "null"]}}}},
        "items": {"oneOf": [{"$ref": "#/components/schemas/B"},
          {"allOf": [{"$ref": "#/components/schemas/C"}, {"anyOf": [{"type": "null"}]}]}]},
        "additionalProperties": {"type": ["string", "null"]},
        "const": "string", "default": {"type": "string?"}, "enum": ["B"], "example": {"items": "B"}}}}}
      """##)
  }

  @Test("what is written at length stays as it is")
  func atLength() throws {
    let text = ##"""
      {"info": {"version": "0.1.0"}, "tags": [{"name": "a"}, {"name": "b"}], "paths": {"/a": {"post": {
         "scope": "read", "parameters": [{"name": "x", "in": "query", "schema": {"type": "integer", "maximum": 9223372036854775807}}],
         "requestBody": {"content": {"application/json": {"schema": {"minimum": 0.02}, "examples": {"a": {"value": -1}}}}},
         "responses": {"200": {"description": "Done.", "content": {"application/json": {"schema": {}}}}}}}},
       "components": {"parameters": {}, "schemas": {"A": {"type": ["object", "null"], "required": ["x"],
         "properties": {"x": {"$ref": "#/components/schemas/B"}}, "additionalProperties": false}}}}
      """##
    try expect(text, text)
  }

  @Test("numbers keep their values: whole ones beyond Int64, and with a fraction; one that would change traps")
  func numbers() async throws {
    let text = "[9223372036854775807,9223372036854775808,18446744073709551615,-9223372036854775808,0.1,-2.5]"
    let part = OpenAPIPart.plain(Array("{\"a\": \(text)}".utf8), "a part")
    let written = try JSONSerialization.data(withJSONObject: part)
    #expect(String(decoding: written, as: UTF8.self) == "{\"a\":\(text)}")
    // Other spellings of the same values.
    try expect(#"{"a": [1.50, 15e-1, 10.0, 1E3, 0e5, 0.0, 2.5E-7]}"#, #"{"a": [1.5, 1.5, 10, 1000, 0, 0, 0.00000025]}"#)
    await #expect(processExitsWith: .failure) {
      _ = OpenAPIPart.plain(Array(#"{"a": 18446744073709551616}"#.utf8), "a part")
    }
    await #expect(processExitsWith: .failure) {
      _ = OpenAPIPart.plain(Array(#"{"a": -9223372036854775809}"#.utf8), "a part")
    }
    await #expect(processExitsWith: .failure) {
      _ = OpenAPIPart.plain(Array(#"{"a": 0.12345678901234567890}"#.utf8), "a part")
    }
    await #expect(processExitsWith: .failure) { _ = OpenAPIPart.plain(Array(#"{"a": 1e-400}"#.utf8), "a part") }
    await #expect(processExitsWith: .failure) { _ = OpenAPIPart.plain(Array(#"{"a": 1e99999}"#.utf8), "a part") }
  }

  @Test("a part that is written wrongly traps")
  func wrong() async {
    await #expect(processExitsWith: .failure) { _ = OpenAPIPart.plain(Array("[]".utf8), "a part") }
    await #expect(processExitsWith: .failure) { _ = OpenAPIPart.plain(Array(#"{"a": 1, "a": 2}"#.utf8), "a part") }
    await #expect(processExitsWith: .failure) {
      _ = OpenAPIPart.plain(Array(#"{"routes": {"/api/a": {}}}"#.utf8), "a part")
    }
    await #expect(processExitsWith: .failure) {
      _ = OpenAPIPart.plain(Array(#"{"routes": {"GET /a": {"scope": "read"}}}"#.utf8), "a part")
    }
    await #expect(processExitsWith: .failure) {
      _ = OpenAPIPart.plain(Array(#"{"routes": {"GET /a": {"answers": "zone"}}}"#.utf8), "a part")
    }
    await #expect(processExitsWith: .failure) {
      _ = OpenAPIPart.plain(
        Array(#"{"routes": {"GET /a": {"answers": "A", "responses": {"200": "B"}}}}"#.utf8), "a part")
    }
    await #expect(processExitsWith: .failure) {
      _ = OpenAPIPart.plain(
        Array(#"{"components": {"schemas": {"A": {"members": {}, "required": ["a"], "properties": {}}}}}"#.utf8),
        "a part")
    }
  }
}
