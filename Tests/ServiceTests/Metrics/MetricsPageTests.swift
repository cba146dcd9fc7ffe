import Foundation
import Tactus
import TestSupport
import Testing

@testable import Service

@Suite("GET /metrics", .ownThread)
struct MetricsPageTests {
  @Test("the process: the names every client library gives, with values of this process")
  func process() throws {
    var writer = MetricsWriter()
    ProcessMetrics().write(into: &writer)
    func value(_ name: String) throws -> Double {
      let line = try #require(writer.text.split(separator: "\n").first { $0.hasPrefix(name + " ") }, "\(name)")
      return try #require(Double(line.dropFirst(name.count + 1)))
    }
    #expect(try value("process_cpu_seconds_total") > 0)
    #expect(try (1e6...1e11).contains(value("process_resident_memory_bytes")))
    #expect(try value("process_virtual_memory_bytes") > value("process_resident_memory_bytes"))
    #expect(try (3...value("process_max_fds")).contains(value("process_open_fds")))
    let started = try value("process_start_time_seconds")
    #expect((0...3600).contains(Double(WallClock.microseconds) / 1e6 - started))
  }

  @Test("the route: read scope, content type of format 0.0.4, each source once")
  func route() async throws {
    let route = Route.metrics([ProcessMetrics()])
    #expect(route.path == "/metrics" && route.method == .get && route.scope == .read && route.action == nil)
    guard case .handler(let handler) = route.handling else {
      Issue.record("expected a handler")
      return
    }
    let caller = Caller(scope: .read, tokenID: nil, address: "127.0.0.1", client: 1)
    let answer = try await handler(APIRequest(caller: caller))
    #expect(answer.status == .ok && answer.contentType == "text/plain; version=0.0.4; charset=utf-8")
    #expect(String(decoding: answer.body, as: UTF8.self).hasPrefix("# HELP process_cpu_seconds_total "))
  }
}
