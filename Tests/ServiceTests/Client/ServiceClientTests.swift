import Foundation
import Logging
import NIOCore
import TestSupport
import Testing

@testable import Service
@testable import Tactus

@Suite("A daemon's door and a client that looks", .serialized, .ownThread)
struct ServiceClientTests {
  /// A door on any free port with a runtime behind it, and a client.
  private func open(token: String?, port: UInt16 = 0) throws -> (door: WebService, client: ServiceClient) {
    let runtime = try Runtime { Lane("motion") { Loop("balance", every: .hertz(100)) { Still() } } }
    let rules = try HostRules()
    let accessControl = AccessControl(
      rules: rules, tokens: OneToken(), now: { .zero })
    let door = WebService(
      configuration: ServiceConfiguration(port: port, version: "1.2.3"), accessControl: accessControl, systems: [],
      routes: [.runtime(runtime, version: "1.2.3") { .zero }, .metrics([RuntimeMetrics(runtime, version: "1.2.3")])],
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    try door.start()
    let port = try #require(door.endpoint?.port)
    let address = try #require(ServiceAddress("127.0.0.1:\(port)"))
    return (door, try ServiceClient(address, token: token))
  }

  private func get(
    _ client: ServiceClient, _ path: String, limit: TimeAmount = .milliseconds(Int64(patience))
  ) async -> Result<ServiceClient.Answer, ServiceClient.Failure> {
    await withCheckedContinuation { continuation in
      client.get(path, limit: limit) { continuation.resume(returning: $0) }
    }
  }

  @Test("with a token of scope read: the loops, the metrics, the status; another path is 404")
  func looks() async throws {
    let (door, client) = try open(token: "right")
    let runtime = try await get(client, "/api/runtime?histograms=1").get()
    #expect(runtime.status == 200)
    let document = try JSONDecoder().decode(RuntimeDocument.self, from: Data(runtime.body))
    #expect(document.loops.map(\.name) == ["balance"] && document.loops[0].latencyNs.buckets == [])
    let metrics = try await get(client, "/metrics").get()
    #expect(metrics.status == 200 && String(decoding: metrics.body, as: UTF8.self).contains("tactus_loop_ran_total{"))
    #expect(try await get(client, "/api/status").get().status == 200)
    #expect(try await get(client, "/api/none").get().status == 404)
    #expect(try await get(client, "/api/runtime?histograms=2").get().status == 422)
    close(door, client)
  }

  @Test("without a token, with a wrong one: 401", arguments: [nil, "wrong"])
  func refused(token: String?) async throws {
    let (door, client) = try open(token: token)
    for path in ["/api/runtime", "/metrics", "/api/status"] {
      #expect(try await get(client, path).get().status == 401, "\(path)")
    }
    close(door, client)
  }

  @Test("an answer that is longer than allowed, or has no end: told in words, with the length")
  func endless() throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, size) == 0 && listen(listener, 1) == 0 && getsockname(listener, $0, &size) == 0
      }
    }
    try #require(result)
    DispatchQueue(label: "endless").async {
      let client = accept(listener, nil, nil)
      var part = Array("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".utf8)
      // Until the client has had enough.
      while send(client, part, part.count, Int32(MSG_NOSIGNAL)) > 0 { part = Array("5\r\nhello\r\n".utf8) }
      Glibc.close(client)
      Glibc.close(listener)
    }
    let port = UInt16(bigEndian: address.sin_port)
    let client = try ServiceClient(try #require(ServiceAddress("127.0.0.1:\(port)")), token: nil)
    let answer = client.ask("GET", "/", most: 1_000, limit: .milliseconds(Int64(patience)))
    guard case .failure(let failure) = answer else {
      Issue.record("expected no answer")
      return
    }
    #expect("\(failure)" == "its answer has more than 1000 bytes")
    client.stop()
  }

  @Test("nobody listens: in the system's words")
  func nobody() async throws {
    let port = ReservedPort()
    defer { withExtendedLifetime(port) {} }
    let (door, client) = try open(token: nil, port: port.number)
    door.stop()
    guard case .failure(.unreachable(let reason)) = await get(client, "/") else {
      Issue.record("expected no answer")
      return
    }
    #expect(reason == "Connection refused")
    close(door, client)
  }

  @Test("a server that says nothing: given up after the limit")
  func silence() async throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { Glibc.close(listener) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, size) == 0 && listen(listener, 1) == 0 && getsockname(listener, $0, &size) == 0
      }
    }
    try #require(result)
    let port = UInt16(bigEndian: address.sin_port)
    let client = try ServiceClient(try #require(ServiceAddress("127.0.0.1:\(port)")), token: nil)
    guard case .failure(.timedOut) = await get(client, "/", limit: .milliseconds(50)) else {
      Issue.record("expected no answer")
      return
    }
    client.stop()
  }

  private func close(_ door: WebService, _ client: ServiceClient) {
    client.stop()
    door.stop()
  }
}

private struct OneToken: TokenVerifier {
  func verify(_ token: String, now: Int64) -> Result<TokenGrant, TokenRefusal> {
    token == "right" ? .success(TokenGrant(tokenID: "t", scope: .read, expires: nil)) : .failure(.invalid)
  }
}
