import ServiceDocuments

/// The page a browser shows at `/`: every system and loop live, the e-stop. It asks for a token when the daemon does.
struct Console {
  /// Systems that have a card of their own, in the page's order.
  let systems: [SystemDocuments]
  /// Cards of declared systems that have written their own.
  var cards: [OwnCard] = []
  /// The program's name: the page's title, and the command that makes a token.
  let program: String

  /// Files that never change while the daemon runs; no token, since they hold nothing that anyone may not see.
  var routes: [Route] {
    ServiceDocuments.page.map { name in route(name) { ServiceDocuments.bytes("Console/" + name) } }
      + systems.map { system in route(system.name + ".js") { system.script } }
      + cards.map { card in route(card.kind + ".card.js") { card.script } }
  }

  private func route(_ name: String, _ file: @escaping @Sendable () -> [UInt8]) -> Route {
    let (kind, make): (String, @Sendable () -> [UInt8]) =
      switch name.split(separator: ".").last {
      case "html": ("text/html; charset=utf-8", { [self] in page(file()) })
      case "css":
        ("text/css; charset=utf-8", { [systems, cards] in file() + systems.flatMap(\.style) + cards.flatMap(\.style) })
      case "js": ("text/javascript; charset=utf-8", file)
      case "svg": ("image/svg+xml", file)
      case "webmanifest": ("application/manifest+json", { [self] in named(file()) })
      default: preconditionFailure("\(name): a kind of file that has no content type")
      }
    let document = PreparedDocument(contentType: kind, file: make)
    return Route(name == "index.html" ? "/" : "/" + name, scope: nil, document)
  }

  private var title: String { program.prefix(1).uppercased() + program.dropFirst() }

  /// What the program is called once it is installed as an app.
  private func named(_ manifest: [UInt8]) -> [UInt8] {
    Array(String(decoding: manifest, as: UTF8.self).replacing("\"Tactus\"", with: "\"\(title)\"").utf8)
  }

  /// With the systems' cards and scripts in their places.
  private func page(_ file: [UInt8]) -> [UInt8] {
    let text = String(decoding: file, as: UTF8.self)
    let sections = systems.map { String(decoding: $0.card, as: UTF8.self) } + cards.map(\.template)
    let scripts = (systems.map { "\($0.name).js" } + cards.map { "\($0.kind).card.js" }).map {
      "<script src=\"\($0)\"></script>\n"
    }
    let parts = [
      ("<title>Tactus</title>", "<title>\(title)</title>"), ("<h1>Tactus</h1>", "<h1>\(title)</h1>"),
      ("computer that runs tactus", "computer that runs \(program)"),
      (">tactus token create", ">\(program) token create"),
      ("<!-- the cards of the systems -->\n", sections.joined(separator: "\n")),
      ("<!-- the scripts of the systems -->\n", scripts.joined()),
    ]
    return Array(
      parts.reduce(text) { page, part in
        precondition(page.contains(part.0), "index.html has no place for \(part.0)")
        return page.replacing(part.0, with: part.1)
      }.utf8)
  }
}
