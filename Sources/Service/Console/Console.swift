import ServiceDocuments

/// The page a browser shows at `/`: every loop live, the robot, the e-stop. It asks for a token when the daemon does.
enum Console {
  /// Files that never change while the daemon runs; no token, since they hold nothing that anyone may not see.
  static let routes = ServiceDocuments.page.map { name in
    Route(
      name == "index.html" ? "/" : "/" + name, scope: nil,
      PreparedDocument(contentType: contentType(name), version: { 0 }) { ServiceDocuments.bytes("Console/" + name) })
  }

  private static func contentType(_ name: String) -> String {
    switch name.split(separator: ".").last {
    case "html": "text/html; charset=utf-8"
    case "css": "text/css; charset=utf-8"
    case "js": "text/javascript; charset=utf-8"
    default: preconditionFailure("\(name): a kind of file that has no content type")
    }
  }
}
