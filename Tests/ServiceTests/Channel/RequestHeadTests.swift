import HTTPTypes
import NIOHTTP1
import Testing

@testable import Service

@Suite("Heads of requests")
struct RequestHeadTests {
  private func request(_ uri: String, method: HTTPMethod = .POST, headers: HTTPHeaders) throws -> HTTPRequest {
    try HTTPRequestHead(version: .http1_1, method: method, uri: uri, headers: headers).request(isSecure: false)
  }

  @Test(
    "what a target that is a whole URL names is the host, not the field of that name (RFC 9112, 3.2.2)",
    arguments: [
      ("/api/status?a=http://b/", "127.0.0.1", "/api/status?a=http://b/"), ("*", "127.0.0.1", "*"),
      ("http://evil.example/api/robot/drive", "evil.example", "/api/robot/drive"),
      ("HTTPS://Evil.example:81?a=1", "Evil.example:81", "/?a=1"), ("http://evil.example", "evil.example", "/"),
      ("http://", "", "/"), ("http:/evil.example/", "127.0.0.1", "http:/evil.example/"),
    ])
  func hosts(uri: String, host: String, path: String) throws {
    let request = try request(uri, headers: ["Host": "127.0.0.1", "a": "1", "A": "2"])
    #expect(request.authority == host && request.path == path)
    #expect(request.headerFields.map(\.value) == ["1", "2"])
  }

  @Test(
    "a second host stays a field, for the access control to refuse; a field whose name is none is left out; any method that HTTP allows is one"
  )
  func fields() throws {
    let two = try request("/", headers: ["host": "a", "HOST": "b"])
    #expect(two.authority == "a" && two.headerFields.map(\.value) == ["b"])
    #expect(try request("/", headers: ["in valid": "1"]).headerFields.isEmpty)
    #expect(try request("/", method: .RAW(value: "BREW"), headers: [:]).method.rawValue == "BREW")
    #expect(throws: APIError.self) { try request("/", method: .RAW(value: "a b"), headers: [:]) }
  }
}
