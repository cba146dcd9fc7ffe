import Foundation
import TestSupport
import Testing

@testable import Service

@Suite("config/: what Prometheus and Grafana are given", .ownThread)
struct MonitoringFilesTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "config")

  /// Family name → label names, from the page itself.
  private static func families() throws -> [String: Set<String>] {
    var families: [String: Set<String>] = [:]
    for line in try WholePage.text().split(separator: "\n") where !line.hasPrefix("#") {
      let name = String(line.prefix { $0 != "{" && $0 != " " })
      families[name, default: []].formUnion(line.matches(of: /([a-z_]+)="/).map { String($0.output.1) })
    }
    return families
  }

  @Test("the dashboard: valid JSON; every metric and label it asks for is on the page")
  func dashboard() throws {
    let file = Self.folder.appending(path: "grafana-dashboard.json")
    let board = try #require(
      JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
    #expect((board["schemaVersion"] as? Int).map { $0 >= 39 } == true && board["uid"] as? String == "tactus")
    let families = try Self.families()
    // What Prometheus adds to every series.
    let own: Set<String> = ["instance", "job"]
    let panels = try #require(board["panels"] as? [[String: Any]])
    var asked: Set<String> = []
    for panel in panels where panel["type"] as? String != "row" {
      let title = panel["title"] as? String ?? ""
      let targets = try #require(panel["targets"] as? [[String: Any]], "\(title)")
      #expect(!targets.isEmpty && panel["gridPos"] is [String: Any], "\(title)")
      for target in targets {
        let query = try #require(target["expr"] as? String)
        let names = query.matches(of: /(?:tactus|process)_[a-z_]+/).map { String($0.output) }
        #expect(!names.isEmpty, "\(title): \(query)")
        for name in names {
          let labels = try #require(families[name], "\(title): nothing is called \(name)")
          let used = query.matches(of: /([a-z]+)(?:=~|=|!=)"/).map { String($0.output.1) }
          let legend = (target["legendFormat"] as? String ?? "").matches(of: /\{\{([a-z]+)\}\}/)
          for label in used + legend.map({ String($0.output.1) }) where !own.contains(label) {
            #expect(labels.contains(label), "\(title): \(name) has no label \(label)")
          }
        }
        asked.formUnion(names)
      }
    }
    // A board that forgets a loop's accounts or the e-stop is no board.
    for name in [
      "tactus_loop_ran_total", "tactus_loop_skipped_total", "tactus_loop_release_latency_seconds_bucket",
      "tactus_loop_overdue", "tactus_loop_age_seconds_bucket", "tactus_loop_age_bound_seconds",
      "tactus_robot_emergency_stopped", "tactus_robot_wheel_speed_ratio", "tactus_robot_ignored_commands_total",
      "tactus_leg_state", "tactus_leg_pulse_seconds", "tactus_leg_outputs_enabled", "tactus_leg_battery_volts",
      "tactus_sprinkler_zone_open", "tactus_sprinkler_state", "tactus_sprinkler_flow_alarm",
      "tactus_sprinkler_store_writable", "tactus_pump_state", "tactus_plants_moisture_ratio", "tactus_plants_alert",
      "tactus_video_state", "tactus_video_viewers", "tactus_video_encode_seconds",
      "tactus_leg_link_received_frames_total", "tactus_leg_link_usable",
      "process_cpu_seconds_total", "tactus_service_websocket_clients", "tactus_store_writable",
      "tactus_service_evicted_connections_total",
    ] {
      #expect(asked.contains(name), "\(name)")
    }
    let ids = panels.compactMap { $0["id"] as? Int }
    #expect(ids.count == panels.count && Set(ids).count == ids.count)
  }

  @Test(
    "prometheus.yaml: promtool takes it",
    .enabled(if: Promtool.path != nil, "promtool is not installed (apt install prometheus)"))
  func scrape() throws {
    let file = Self.folder.appending(path: "prometheus.yaml").path
    // Only its syntax: the token's file is the user's.
    let (status, said) = try Promtool.run(["check", "config", "--syntax-only", file])
    #expect(status == 0, "\(said)")
  }

  @Test(
    "the dashboard's queries: Prometheus can parse them",
    .enabled(if: Promtool.path != nil, "promtool is not installed (apt install prometheus)"))
  func queries() throws {
    let board =
      try JSONSerialization.jsonObject(
        with: Data(contentsOf: Self.folder.appending(path: "grafana-dashboard.json"))) as? [String: Any]
    let queries = (board?["panels"] as? [[String: Any]] ?? []).flatMap { panel in
      (panel["targets"] as? [[String: Any]] ?? []).compactMap { $0["expr"] as? String }
    }
    #expect(queries.count > 20)
    // As recording rules, the one form in which promtool looks at a query without a server.
    let rules = queries.enumerated().map { index, query in
      let query = query.replacing("$__rate_interval", with: "1m").replacing("'", with: "''")
      return "      - record: query_\(index)\n        expr: '\(query)'"
    }
    let text = "groups:\n  - name: dashboard\n    rules:\n\(rules.joined(separator: "\n"))\n"
    let file = FileManager.default.temporaryDirectory.appending(path: "tactus-rules-\(UUID().uuidString).yaml")
    try text.write(to: file, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(at: file) }
    let (status, said) = try Promtool.run(["check", "rules", file.path])
    #expect(status == 0, "\(said)")
  }
}
