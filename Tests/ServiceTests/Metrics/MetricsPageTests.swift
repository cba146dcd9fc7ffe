import Foundation
import Tactus
import TestSupport
import Testing

@testable import PumpDaemon
@testable import Service

@Suite("GET /metrics", .ownThread)
struct MetricsPageTests {
  @Test(
    "promtool check metrics: nothing to say",
    .enabled(if: Promtool.path != nil, "promtool is not installed (apt install prometheus)"))
  func promtool() throws {
    let (status, said) = try Promtool.run(["check", "metrics"], input: try WholePage.text())
    #expect(status == 0 && said.isEmpty, "\(said)")
  }

  @Test("every source that there is has its place on the page that these tests look at")
  func everySource() throws {
    let sources = URL(filePath: #filePath).appending(path: "../../../../Sources").standardized
    var declared: Set<String> = []
    for folder in ["Service", "Systems"] {
      let files = FileManager.default.enumerator(
        at: sources.appending(path: folder), includingPropertiesForKeys: nil)
      for case let file as URL in try #require(files) where file.pathExtension == "swift" {
        let text = try String(contentsOf: file, encoding: .utf8)
        declared.formUnion(text.matches(of: /struct ([A-Za-z]+): MetricSource/).map { String($0.output.1) })
        declared.formUnion(
          text.matches(of: /enum ([A-Za-z]+):\s+(?:DeviceSystem|WithoutLoops)/).map { "HostedDoor<\($0.output.1)>" })
      }
    }
    let there = try WholePage.withSources { Set($0.map { String(describing: type(of: $0)) }) }
    #expect(declared == there)
  }

  @Test("a robot that drives: its state, speeds and counters")
  func robot() throws {
    let lines = try WholePage.text().split(separator: "\n")
    for line in [
      #"tactus_robot_state{state="driving"} 1"#, #"tactus_robot_state{state="stopped"} 0"#,
      "tactus_robot_emergency_stopped 0", #"tactus_robot_wheel_speed_ratio{wheel="left"} 0.5"#,
      #"tactus_robot_wheel_speed_ratio{wheel="right"} 0.25"#,
      #"tactus_robot_ignored_commands_total{reason="not-controller"} 0"#, "tactus_robot_malformed_datagrams_total 0",
    ] {
      let isThere = lines.contains(Substring(line))
      #expect(isThere, "\(line)")
    }
    #expect(lines.contains { $0.hasPrefix("tactus_robot_last_command_age_seconds 0.0") })
  }

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
