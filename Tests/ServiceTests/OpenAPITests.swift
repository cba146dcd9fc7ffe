import Foundation
import TestSupport
import Testing

@testable import Service

@Suite("OpenAPI document", .ownThread)
struct OpenAPITests {
  @Test("served: with the program's version, otherwise as written")
  func served() throws {
    let service = try RunningService()
    let reply = try service.request("GET", "/api/openapi.json")
    #expect(reply.status == 200)
    #expect((reply.json?["info"] as? [String: Any])?["version"] as? String == "1.2.3")
    let written = try JSONSerialization.jsonObject(with: Data(OpenAPIDocument.source)) as? [String: Any]
    #expect((reply.json?["paths"] as? NSDictionary) == (written?["paths"] as? NSDictionary))
  }
}
