/// The page a browser shows at `/`: every loop live, the robot, the e-stop. It asks for a token when the daemon does.
enum Console {
  /// Files that never change while the daemon runs; no token, since they hold nothing that anyone may not see.
  static let routes: [Route] = [
    file("/", "text/html; charset=utf-8", PackageResources.index_html),
    file("/console.css", "text/css; charset=utf-8", PackageResources.console_css),
    file("/say.js", "text/javascript; charset=utf-8", PackageResources.say_js),
    file("/console.js", "text/javascript; charset=utf-8", PackageResources.console_js),
    file("/stop.js", "text/javascript; charset=utf-8", PackageResources.stop_js),
    file("/drive.js", "text/javascript; charset=utf-8", PackageResources.drive_js),
    file("/loops.js", "text/javascript; charset=utf-8", PackageResources.loops_js),
    file("/legs.js", "text/javascript; charset=utf-8", PackageResources.legs_js),
    file("/sprinkler.js", "text/javascript; charset=utf-8", PackageResources.sprinkler_js),
    file("/pump.js", "text/javascript; charset=utf-8", PackageResources.pump_js),
    file("/plants.js", "text/javascript; charset=utf-8", PackageResources.plants_js),
    file("/video.js", "text/javascript; charset=utf-8", PackageResources.video_js),
  ]

  private static func file(_ path: String, _ contentType: String, _ bytes: [UInt8]) -> Route {
    Route(path, scope: nil, PreparedDocument(contentType: contentType, version: { 0 }, make: { bytes }))
  }
}
