import Foundation
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
      let (served, described) = (try servedRoutes(), try describedRoutes())
      try #require(served.subtracting(described) == [], "served and not described")
      let unbuilt: Set<String> = Configuration.MQTT.isBuilt ? [] : ["GET /api/mqtt"]
      try #require(described.subtracting(served) == unbuilt, "described and not served")
      try #require(served.count > 15)
    }
  }
}

/// `GET /api/status` and so on, without the console's files, which are no part of the API.
private func servedRoutes() throws -> Set<String> {
  let folder = try TemporaryFolder()
  let file = try folder.write(
    "network: { motor_udp_port: 0, leg_udp_port: 0, rtsp_port: 0, http_port: 0 }\nmotors: { }\nleg: { }\npump: { }\nplants: { }\n"
      + (Configuration.Video.isThere ? "video: { }\n" : "")
      + (Configuration.MQTT.isBuilt ? "mqtt: { }\n" : "")
      + "sprinkler: { legacy_routes: true }\nstore: { folder: '\(folder.path("state"))' }", to: "config.yaml")
  let environment = ["HOME": folder.path("home")]
  let configuration = try Configuration.read(path: file, environment: environment)
  let log = ProgramLog(format: .json, level: .critical, secrets: [])
  let events = try ServiceEvents()
  let daemon = try Daemon(
    configuration, options: Daemon.Options(simulate: true, logFormat: .json, environment: environment),
    logger: log.logger("tactus"), log: log, events: events)
  let table = try #require(daemon.service).service.table
  let pages: Set<String> = [
    "GET /", "GET /console.css", "GET /console.js", "GET /say.js", "GET /stop.js", "GET /loops.js", "GET /cards.js",
    "GET /systems.js", "GET /robot.js", "GET /video.js", "GET /leg.js", "GET /sprinkler.js", "GET /plants.js",
    "GET /pump.js",
  ]
  // The connection's own: it answers before the table is asked.
  return Set(table.routes.map { "\($0.method) \($0.path)" }).subtracting(pages).union(["GET /ws"])
}

private func describedRoutes() throws -> Set<String> {
  let document = OpenAPIDocument.written(DaemonProgram.tactus.kinds.compactMap(\.documents))
  let paths = try #require(document["paths"] as? [String: [String: Any]])
  let methods: Set<String> = ["get", "put", "post", "delete", "patch", "head", "options"]
  return Set(
    paths.flatMap { path, item in item.keys.filter(methods.contains).map { "\($0.uppercased()) \(path)" } })
}
