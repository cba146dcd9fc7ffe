import Service
import Tactus

/// The route `GET /api/support`: the file of `tactus support`, as the running program makes it. The findings of `tactus doctor` are not in it, because a
/// confined program cannot look for them.
struct SupportRoute: Sendable {
  /// Returns the configuration file in effect.
  let taken: @Sendable () -> TakenFile
  /// The systems whose states are in the file.
  let systems: [any ServedSystem]
  /// All routes of the program; those of `paths` are called.
  let routes: [Route]
  /// Secrets beside those of the configuration file, such as the token of the environment.
  let secrets: [String]

  /// The paths whose answers are included in the report.
  private static let paths = ["/api/runtime", "/api/notices", "/api/logs/export", "/metrics"]

  var route: Route {
    Route(.get, "/api/support", scope: .admin, action: "daemon.support") { request in
      let (program, file) = (DaemonProgram.current, taken())
      let known = secrets + file.configuration.secrets
      var report = SupportReport()
      report.add("\(program.name) \(program.version), \(WallClock.text)", SupportReport.machine)
      report.add(file.found, of: file.configuration.file, secrets: known)
      for system in systems { report.add("state of \(system.name)", String(decoding: system.state, as: UTF8.self)) }
      for path in Self.paths {
        guard let answering = routes.first(where: { $0.path == path }), case .handler(let handle) = answering.handling
        else { continue }
        // If a route fails, the reason takes the place of its answer.
        do {
          let answer = try await handle(APIRequest(caller: request.caller))
          report.add("GET \(path)", String(decoding: answer.body, as: UTF8.self))
        } catch {
          report.add("GET \(path)", "\(error)")
        }
      }
      let body = Array(report.text(secrets: known).utf8)
      return APIResponse(
        contentType: "text/plain; charset=utf-8",
        headers: [.contentDisposition: "attachment; filename=\"\(program.name)-support.txt\""], body: body,
        logValue: "bytes=\(body.count)")
    }.waitingForDisk()
  }
}
