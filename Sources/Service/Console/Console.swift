import ServiceDocuments

/// The web page at `/`, which shows every system and loop live and has the e-stop. The page asks for a token if the daemon requires one.
struct Console {
  /// The systems that have a card of their own, in the order of the page.
  let systems: [SystemDocuments]
  /// The cards of declared systems that have written one.
  var cards: [OwnCard] = []
  /// The program's name: the title of the page and the name of the command that makes a token.
  let program: String
  /// The IANA time zone of the controller, by which the page shows times of day.
  let timeZone: String
  /// The `Content-Security-Policy` that says which origins may show the page in a frame, or `nil` if none may.
  var framePolicy: String?

  /// The routes of the page's files, which never change while the daemon runs. They need no token, because they hold nothing secret.
  var routes: [Route] {
    let whole = page(ServiceDocuments.bytes("Console/index.html"))
    return ServiceDocuments.page.map { name in
      route(name) {
        switch name {
        case "index.html": Array(whole.text.utf8)
        case "german.js": german
        default: ServiceDocuments.bytes("Console/" + name)
        }
      }
    }
      + whole.bundles.map { bundle in
        route(bundle.name) { Array(bundle.files.map { script($0) }.joined(separator: Array("\n".utf8))) }
      }
      + systems.map { system in route(system.name + ".js") { system.script } }
      + cards.map { card in route(card.kind + ".card.js") { card.script } }
  }

  /// The German of the page and of its systems, one file, so that a page in English does not fetch it.
  private var german: [UInt8] {
    systems.reduce(into: ServiceDocuments.bytes("Console/german.js")) { whole, system in whole += system.german }
  }

  /// Several scripts of the page that are sent as one file, since each file costs a slow link a round trip.
  struct Bundle: Equatable {
    let name: String
    let files: [String]
  }

  private func script(_ name: String) -> [UInt8] {
    Self.short(systems.first { $0.name + ".js" == name }?.script ?? ServiceDocuments.bytes("Console/" + name))
  }

  /// Returns a script without lines that are comments, without empty lines, and without indentation, which is a fifth of it.
  ///
  /// No text of our scripts goes over more than one line, so that nothing else is changed (`ConsoleBundleTests`).
  static func short(_ script: [UInt8]) -> [UInt8] {
    let lines = script.split(separator: UInt8(ascii: "\n")).compactMap { line -> ArraySlice<UInt8>? in
      let text = line.drop { $0 == UInt8(ascii: " ") }
      return text.isEmpty || text.starts(with: "//".utf8) ? nil : text
    }
    return Array(lines.joined(separator: "\n".utf8)) + "\n".utf8
  }

  /// Returns the page with one file for each run of scripts, all of which it names before the first. A card of another package stays a file of its own: an error
  /// in it must not take the page with it.
  static func bundled(_ page: String) -> (text: String, bundles: [Bundle]) {
    var lines: [Substring] = []
    var run: [Substring] = []
    var bundles: [Bundle] = []
    func file(_ line: Substring) -> String? {
      let parts = line.split(separator: "\"", omittingEmptySubsequences: false)
      guard parts.count == 3, parts[0] == "<script src=", parts[2] == "></script>", !parts[1].hasSuffix(".card.js")
      else {
        return nil
      }
      return String(parts[1])
    }
    let end: [Substring] = ["end"]
    for line in page.split(separator: "\n", omittingEmptySubsequences: false) + end {
      if file(line) != nil {
        run.append(line)
        continue
      }
      if run.count > 1 {
        bundles.append(Bundle(name: "page-\(bundles.count + 1).js", files: run.compactMap(file)))
        lines.append(Substring("<script src=\"page-\(bundles.count).js\"></script>"))
      } else {
        lines += run
      }
      run = []
      lines.append(line)
    }
    // A browser requests files that are named at the end of the page only when it has all before them.
    if let first = lines.firstIndex(where: { $0.hasPrefix("<script src=") }), !lines[first].contains(".card.js") {
      let later = bundles.filter { !lines[first].contains("\"\($0.name)\"") }
      lines.insert(
        contentsOf: later.map { "<link rel=\"preload\" href=\"\($0.name)\" as=\"script\" fetchpriority=\"high\">" },
        at: first)
    }
    return (lines.dropLast().joined(separator: "\n"), bundles)
  }

  private func route(_ name: String, _ file: @escaping @Sendable () -> [UInt8]) -> Route {
    let (kind, make): (String, @Sendable () -> [UInt8]) =
      switch name.split(separator: ".").last {
      case "html": ("text/html; charset=utf-8", file)
      case "css":
        ("text/css; charset=utf-8", { [systems, cards] in file() + systems.flatMap(\.style) + cards.flatMap(\.style) })
      case "js": ("text/javascript; charset=utf-8", file)
      case "svg": ("image/svg+xml", file)
      case "png": ("image/png", file)
      case "webmanifest": ("application/manifest+json", { [self] in named(file()) })
      default: preconditionFailure("\(name): a kind of file that has no content type")
      }
    let isPage = name == "index.html"
    let document = PreparedDocument(contentType: kind, framePolicy: isPage ? framePolicy : nil, file: make)
    return Route(isPage ? "/" : "/" + name, scope: nil, document)
  }

  private var title: String { program.prefix(1).uppercased() + program.dropFirst() }

  /// Returns the web app manifest with the program's title as the name of the installed app.
  private func named(_ manifest: [UInt8]) -> [UInt8] {
    Array(String(decoding: manifest, as: UTF8.self).replacing("\"Tactus\"", with: "\"\(title)\"").utf8)
  }

  /// Returns the page with the cards and scripts of the systems inserted, and its scripts bundled.
  private func page(_ file: [UInt8]) -> (text: String, bundles: [Bundle]) {
    let text = String(decoding: file, as: UTF8.self)
    let sections = systems.map { String(decoding: $0.card, as: UTF8.self) } + cards.map(\.template)
    let scripts = (systems.map { "\($0.name).js" } + cards.map { "\($0.kind).card.js" }).map {
      "<script src=\"\($0)\"></script>\n"
    }
    // Any other name would have to be escaped; the page then uses the browser's time zone.
    let isPlain = timeZone.utf8.allSatisfy {
      UInt8(ascii: "+")...UInt8(ascii: "z") ~= $0 && $0 != UInt8(ascii: "<") && $0 != UInt8(ascii: ">")
    }
    let parts = [
      ("<html lang=\"en\">", "<html lang=\"en\" data-time-zone=\"\(isPlain ? timeZone : "")\">"),
      ("<title>Tactus</title>", "<title>\(title)</title>"), ("<h1>Tactus</h1>", "<h1>\(title)</h1>"),
      ("computer that runs tactus", "computer that runs \(program)"),
      (">tactus token create", ">\(program) token create"),
      ("<!-- the cards of the systems -->\n", sections.joined(separator: "\n")),
      ("<!-- the scripts of the systems -->\n", scripts.joined()),
    ]
    return Self.bundled(
      parts.reduce(text) { page, part in
        precondition(page.contains(part.0), "index.html has no place for \(part.0)")
        return page.replacing(part.0, with: part.1)
      })
  }
}

/// The files by which the page shows the state of a declared system that has written its own card.
public struct OwnCard: Sendable {
  /// The name of the system, or the common name of several systems of one kind.
  public let kind: String
  let html, script, style: [UInt8]

  /// Makes a card from the contents of its files.
  ///
  /// - Parameters:
  ///   - kind: the name of the system; the script is served as `/KIND.card.js`.
  ///   - html: the HTML copied into each card of this kind.
  ///   - script: the script, which calls `ownCard(kind, show)`.
  ///   - style: CSS rules for elements that only this card has.
  public init(kind: String, html: [UInt8], script: [UInt8], style: [UInt8]) {
    (self.kind, self.html, self.script, self.style) = (kind, html, script, style)
  }

  /// The `template` element of this card in the page; the browser does not display it.
  var template: String { "<template id=\"card-\(kind)\">\(String(decoding: html, as: UTF8.self))</template>" }
}
