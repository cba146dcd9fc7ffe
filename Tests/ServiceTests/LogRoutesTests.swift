import Foundation
import HTTPTypes
import Logging
import ServiceSupport
import Testing

@testable import Service

@Suite("log routes")
struct LogRoutesTests {
  private let history = LogHistory()
  private let threshold = LogThreshold(.info)

  private func ask(
    _ method: HTTPRequest.Method, _ path: String, query: [String: String] = [:], body: String = "",
    scope: Scope = .read
  ) async throws -> APIResponse {
    let routes = LogRoutes(history: history, threshold: threshold).routes
    return try await routes.answer(method, path, query: query, body: body, scope: scope)
  }

  @Test("GET /api/logs: the lines as JSON objects, with next and dropped")
  func lines() async throws {
    history.append(level: .info, system: "robot", text: #"{"msg":"a \"quoted\" word"}"#)
    history.append(level: .error, system: "tactus", text: #"{"msg":"b"}"#)
    let object = try await ask(.get, "/api/logs", query: ["since": "0", "limit": "5", "level": "warning"]).object()
    #expect(object["ok"] as? Bool == true && object["next"] as? Int == 2 && object["dropped"] as? Int == 0)
    let lines = try #require(object["lines"] as? [[String: Any]])
    #expect(lines.count == 1 && lines[0]["seq"] as? Int == 1 && lines[0]["msg"] as? String == "b")
  }

  @Test(
    "GET /api/logs with a bad value: 422 that names the parameter",
    arguments: [
      ("since", "-1"), ("since", "x"), ("limit", "0"), ("limit", "1001"), ("level", "loud"), ("sins", "1"),
    ])
  func badQuery(name: String, value: String) async throws {
    let error = try await #require(throws: APIError.self) { try await ask(.get, "/api/logs", query: [name: value]) }
    #expect(error.status == .unprocessableContent && error.field == name)
  }

  @Test("GET /api/logs/export: a file, a line each")
  func export() async throws {
    for number in 0..<3 { history.append(level: .info, system: "x", text: #"{"n":\#(number)}"#) }
    let response = try await ask(.get, "/api/logs/export")
    #expect(response.contentType == "application/x-ndjson")
    let name = try #require(response.headers[.contentDisposition])
    #expect(name.wholeMatch(of: #/attachment; filename="tactus-\d{8}T\d{6}Z\.log"/#) != nil, "\(name)")
    #expect(String(decoding: response.body, as: UTF8.self).split(separator: "\n").count == 3)
  }

  @Test("PUT /api/log-level: in effect at once; what is no level is 422, what is no JSON 400")
  func level() async throws {
    let response = try await ask(.put, "/api/log-level", body: #"{"level":"debug"}"#, scope: .admin)
    #expect(try response.object()["level"] as? String == "debug" && response.logValue == "level=debug")
    #expect(threshold.level == .debug)
    for (body, status, field) in [
      (#"{"level":"loud"}"#, 422, "level"), (#"{"level":3}"#, 422, "level"), ("{}", 422, "level"),
      (#"{"level":"info","x":1}"#, 422, "x"), ("[]", 422, "body"), ("{", 400, nil), ("", 400, nil),
    ] as [(String, Int, String?)] {
      let error = try await #require(throws: APIError.self) { try await ask(.put, "/api/log-level", body: body) }
      #expect(error.status.code == status && error.field == field, "\(body): \(error)")
    }
    #expect(threshold.level == .debug)
  }

  @Test("who may: read the lines, admin the level")
  func scopes() {
    let routes = LogRoutes(history: history, threshold: threshold).routes
    #expect(routes.allSatisfy { $0.scope == ($0.method == .put ? .admin : .read) })
  }
}
