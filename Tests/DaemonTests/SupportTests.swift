import DaemonSupport
import Foundation
import Service
import TestSupport
import Testing

@testable import TactusDaemon

/// `tactus support` as a child: what is in its file, and what never is.
@Suite("support", .serialized, .ownThread)
struct SupportTests {
  private static let configuration = """
    motors: {backend: sim}
    service: {jwt_key: 'jwt-0123456789-0123456789-0123456789'}
    mqtt: {broker: broker.example.org, user: pi, password: pw}  # and in a comment: comment-secret
    plants: {}
    notify:
      receivers:
        - {name: chat, kind: webhook, url: 'http://hooks.example.org/services/path-secret?key=query-secret'}
        - {name: phone, kind: ntfy, url: 'http://127.0.0.1/${TOPIC}', token: tk_ntfy-secret}
        - {name: office, kind: mail, server: 127.0.0.1, user: pi, password: mail-secret, tls: off, from: pi@example.org, to: [me@example.org]}
    """

  private func support(_ folder: TemporaryFolder, _ arguments: [String]) throws -> (status: Int32, said: String) {
    let process = try TactusProcess(
      ["support", "--output", folder.path("out.txt")] + arguments,
      environment: ["TACTUS_TOKEN": "token-secret-1", "TOPIC": "topic-secret"])
    let status = process.finish() ?? -1
    return (status, process.said)
  }

  @Test(
    "the file has versions, findings, keys and the daemon's answers; no secret of file, environment, address or log")
  func whole() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(Self.configuration, to: "tactus.yaml")
    let server = try CannedServer([
      "/api/health": .init(body: #"{"ok":true}"#),
      "/api/status": .init(status: 401, body: #"{"code":"TOKEN_MISSING"}"#),
      "/api/logs/export": .init(body: "connected with token-secret-1; password=log-secret\n"),
      "/metrics": .init(body: "tactus_up 1\n"),
    ])
    defer { server.stop() }
    let (status, said) = try support(folder, ["-c", file, "--port", "\(server.port)"])
    #expect(status == 0, "\(said)")
    let text = try String(contentsOfFile: folder.path("out.txt"), encoding: .utf8)
    for part in [
      "==== tactus ", "==== configuration ", "==== doctor", "==== GET /api/health: status 200", #"{"ok":true}"#,
      "==== GET /api/status: status 401", "tactus_up 1", "mqtt.password: [scrubbed]", "service.jwt_key: [scrubbed]",
      "motors.backend: sim", "mqtt.broker: broker.example.org", "notify.receivers[0].url: [scrubbed]", "connected with",
    ] { #expect(text.contains(part), "\(part) is not in \(text)") }
    for secret in [
      "jwt-0123456789", ": pw", "comment-secret", "path-secret", "query-secret", "topic-secret", "ntfy-secret",
      "mail-secret", "token-secret-1", "log-secret",
    ] { #expect(!text.contains(secret), "\(secret) is in the file") }
    let mode = try FileManager.default.attributesOfItem(atPath: folder.path("out.txt"))[.posixPermissions] as? Int
    #expect(mode == 0o600)
    // It is there: another one is not written over it.
    #expect(try support(folder, ["--port", "\(server.port)"]).status == 1)
  }

  @Test("no daemon answers: the file is written all the same, and says so")
  func alone() throws {
    let folder = try TemporaryFolder()
    #expect(try support(folder, ["--port", "9"]).status == 0)
    let text = try String(contentsOfFile: folder.path("out.txt"), encoding: .utf8)
    #expect(text.contains("==== GET /api/health\n") && text.contains("==== doctor\n"))
  }

  @Test("GET /api/support: the same from the running program, of the file in effect, with its log; no secret is in it")
  func route() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(Self.configuration, to: "tactus.yaml")
    let taken = try TakenFile.read(file, environment: ["TOPIC": "topic-secret"])
    let log = Route(.get, "/api/logs/export") { _ in
      APIResponse(
        contentType: "text/plain", body: Array("connected with token-secret-1; password=log-secret\n".utf8))
    }
    let failing = Route(.get, "/metrics") { _ in throw APIError.conflict("NOT_NOW", "not now") }
    let route = SupportRoute(
      taken: { taken }, systems: [], routes: [log, failing], secrets: ["token-secret-1"]
    ).route
    #expect(route.scope == .admin)
    guard case .handler(let handle) = route.handling else {
      Issue.record("a prepared document")
      return
    }
    let caller = Caller(scope: .admin, tokenID: nil, address: "127.0.0.1", client: 0)
    let text = String(decoding: try await handle(APIRequest(caller: caller)).body, as: UTF8.self)
    for part in [
      "==== tactus ", "==== configuration ", "mqtt.password: [scrubbed]", "service.jwt_key: [scrubbed]",
      "motors.backend: sim", "==== GET /api/logs/export", "connected with", "==== GET /metrics", "not now",
    ] { #expect(text.contains(part), "\(part) is not in \(text)") }
    for secret in [
      "jwt-0123456789", ": pw", "path-secret", "query-secret", "topic-secret", "ntfy-secret", "mail-secret",
      "token-secret-1", "log-secret",
    ] { #expect(!text.contains(secret), "\(secret) is in the file") }
  }

  @Test("an address: its host alone, without account, path and query")
  func address() {
    func shown(_ text: String) -> String { SupportReport.shown(.text(text), of: "a.url", secrets: ["hunter2"]) }
    #expect(shown("http://user:password@host:80/path?key=x") == "http://host:80 [scrubbed]")
    #expect(shown("rtsp://host:8554") == "rtsp://host:8554" && shown("plain words") == "plain words")
    #expect(shown("http://a@b@c") == "http://c [scrubbed]" && shown("say hunter2") == "[scrubbed]")
    #expect(SupportReport.shown(.texts(["a", "ws://h/p"]), of: "a.b", secrets: []) == "[a, ws://h [scrubbed]]")
    #expect(SupportReport.shown(.integer(4), of: "a.token", secrets: []) == "[scrubbed]")
  }
}
