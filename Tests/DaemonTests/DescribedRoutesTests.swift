import DaemonSupport
import Foundation
import Logging
import TestSupport
import Testing

@testable import Service
@testable import TactusDaemon
@testable import TactusProgram
@testable import VideoDaemon

@Suite("OpenAPI document and the daemon", .ownThread)
struct DescribedRoutesTests {
  @Test("a simulated daemon: every route it has is described, and everything described is a route it has")
  func bothWays() async {
    // In a process of its own: a daemon blocks signals for good.
    await #expect(processExitsWith: .success) {
      let daemon = try WholeDaemon()
      let (served, described) = (
        Set(daemon.routes.map(name)).union(["GET /ws", "GET /rosbridge"]), try describedRoutes()
      )
      try #require(served.subtracting(described) == [], "served and not described")
      let unbuilt: Set<String> = Configuration.MQTT.isBuilt ? [] : ["GET /api/mqtt"]
      try #require(described.subtracting(served) == unbuilt, "described and not served")
      try #require(served.count > 15)
    }
  }

  /// `TACTUS_REWRITE=1 scripts/swift test --filter DescribedRoutesTests` writes it.
  @Test("docs/routes.md: every route with its scope, and what MQTT calls it")
  func page() async {
    await #expect(processExitsWith: .success) {
      let file = repository.appending(path: "docs/routes.md")
      let page = try RoutesPage(try WholeDaemon()).text
      if ProcessInfo.processInfo.environment["TACTUS_REWRITE"] != nil {
        try page.write(to: file, atomically: true, encoding: .utf8)
      }
      // A build without the broker or the camera has less of it.
      guard Configuration.MQTT.isBuilt, Video.isBuilt else { return }
      let kept = try String(contentsOf: file, encoding: .utf8)
      try #require(page == kept)
    }
  }
}

private func name(_ route: Route) -> String { "\(route.method) \(route.path)" }

/// A simulated daemon with every system, which never runs.
private struct WholeDaemon {
  let daemon: Daemon
  /// Without the console's files, which are no part of the API, and the WebSockets, which the connection answers itself.
  let routes: [Route]

  init() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(
      "network: { motor_udp_port: 0, leg_udp_port: 0, rtsp_port: 0, http_port: 0 }\nmotors: { }\nleg: { }\npump: { }\nplants: { }\n"
        + (Video.isBuilt ? "video: { }\n" : "")
        + (Configuration.MQTT.isBuilt ? "mqtt: { }\n" : "") + "notify: { }\n"
        + "sprinkler: { legacy_routes: true }\nstore: { folder: '\(folder.path("state"))' }", to: "config.yaml")
    let environment = ["HOME": folder.path("home")]
    let configuration = try Configuration.read(path: file, environment: environment)
    let log = ProgramLog(format: .json, level: .critical, secrets: [])
    let events = try ServiceEvents()
    daemon = try Daemon(
      configuration, options: Daemon.Options(simulate: true, logFormat: .json, environment: environment),
      logger: log.logger("tactus"), log: log, events: events)
    let page = Set(
      Console(systems: DaemonProgram.tactus.kinds.compactMap(\.documents), program: "tactus", timeZone: "UTC").routes
        .map(name))
    routes = try #require(daemon.service).service.table.routes.filter { !page.contains(name($0)) }
  }
}

/// Every route by the group that its description puts it in.
private struct RoutesPage {
  private let topics: [String: (topic: String, word: String)]
  private let routes: [Route]
  private let document: [String: Any]

  init(_ whole: WholeDaemon) throws {
    routes = whole.routes
    let commands = RemoteCommands(
      try #require(whole.daemon.service).service.systems, link: "mqtt", logger: Logger(label: "test"))
    topics = commands.topics
    document = OpenAPIDocument.written(DaemonProgram.tactus.kinds.compactMap(\.documents))
  }

  var text: String {
    let tags = document["tags"] as? [[String: Any]] ?? []
    let groups = tags.compactMap { $0["name"] as? String }.map { group in
      (
        name: group,
        lines: routes.sorted { ($0.path, $0.method.rawValue) < ($1.path, $1.method.rawValue) }.compactMap {
          line($0, group)
        }
      )
    }
    return """
      # Every route

      Written by a test from the daemon's own table; `/api/openapi.json` has parameters, bodies, answers and errors. The scope is what a token
      must allow; – needs none. A command that MQTT takes has its topic, below `PREFIX/DEVICE/`, and the word of its message: see
      [mqtt.md](mqtt.md).

      """
        + groups.filter { !$0.lines.isEmpty }.map { group in
          "\n## \(group.name)\n\n| route | scope | | MQTT |\n|---|---|---|---|\n"
            + group.lines.map { $0 + "\n" }.joined()
        }.joined()
  }

  /// `nil` if it is of another group.
  private func line(_ route: Route, _ group: String) -> String? {
    let item = (document["paths"] as? [String: [String: Any]])?[route.path]
    guard let operation = item?[route.method.rawValue.lowercased()] as? [String: Any],
      (operation["tags"] as? [String])?.first == group
    else { return nil }
    let summary = (operation["summary"] as? String ?? "").replacing("|", with: "\\|")
    let topic = topics[name(route)].map { "`\($0.topic)` `\($0.word)`" } ?? ""
    return "| `\(name(route))` | \(route.scope.map { "\($0)" } ?? "–") | \(summary) | \(topic) |"
  }
}

private func describedRoutes() throws -> Set<String> {
  let document = OpenAPIDocument.written(DaemonProgram.tactus.kinds.compactMap(\.documents))
  let paths = try #require(document["paths"] as? [String: [String: Any]])
  let methods: Set<String> = ["get", "put", "post", "delete", "patch", "head", "options"]
  return Set(
    paths.flatMap { path, item in item.keys.filter(methods.contains).map { "\($0.uppercased()) \(path)" } })
}
