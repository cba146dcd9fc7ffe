import Foundation
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
  ///
  /// The name of each file has a hash of its contents, so that browsers keep it without asking. They ask for newer
  /// versions of the page itself, which contains the names, and of the service worker, whose address must not change.
  var routes: [Route] {
    let (text, bundles) = page(ServiceDocuments.bytes("Console/index.html"))
    let icons = ServiceDocuments.page.filter { $0.hasSuffix(".svg") || $0.hasSuffix(".png") }.map { File($0) }
    let iconAddresses = Dictionary(uniqueKeysWithValues: icons.map { ($0.name, $0.address) })
    let manifest = File("manifest.webmanifest") { [self] in
      named(ServiceDocuments.bytes("Console/manifest.webmanifest"), iconAddresses)
    }
    let style = File("console.css") { [systems, cards] in
      let own = ServiceDocuments.bytes("Console/console.css")
      return Self.short(style: own + systems.flatMap(\.style) + cards.flatMap(\.style))
    }
    // The German of the page and of its systems is one file, which a page in English does not fetch.
    let german = File("german.js") { [systems] in
      Self.short(systems.reduce(into: ServiceDocuments.bytes("Console/german.js")) { $0 += $1.german })
    }
    // The view of the parts shows its own lines, so they are sent as they are.
    var files = icons + [manifest, style, german, File("parts.js")]
    files += ["help.js", "logs.js", "timing.js"].map { name in File(name) { script(name) } }
    files += bundles.map { bundle in File(bundle.name) { Array(bundle.files.map { script($0) }.joined()) } }
    files += cards.map { card in File(card.kind + ".card.js") { card.script } }
    let addresses = Dictionary(uniqueKeysWithValues: files.map { ($0.name, $0.address) })
    let html = Array(Self.addressed(text, addresses).utf8)
    return [
      route("/", .asked, "index.html", framePolicy) { html },
      route("/worker.js", .asked, "worker.js") { script("worker.js") },
    ] + files.map { route("/" + $0.address, .forever, $0.name, nil, $0.contents) }
  }

  /// A file of the page that browsers keep.
  private struct File: Sendable {
    /// The name of the file in `index.html`.
    let name: String
    /// The name under which the file is served: `console-2f61c9d04ab7.css`.
    let address: String
    let contents: @Sendable () -> [UInt8]

    init(_ name: String, _ contents: @escaping @Sendable () -> [UInt8]) {
      (self.name, self.contents) = (name, contents)
      address = Console.address(of: name, contents())
    }

    /// Creates the name of a file that is sent unchanged.
    init(_ name: String) { self.init(name) { ServiceDocuments.bytes("Console/" + name) } }
  }

  /// Returns the name under which a file with these contents is served: 48 bits of their SHA-256 stand before the
  /// ending.
  static func address(of name: String, _ contents: [UInt8]) -> String {
    let stem = name.prefix { $0 != "." }
    let hash = Hexadecimal.text(Array(SystemCrypto.sha256(contents).prefix(6)))
    return "\(stem)-\(hash)\(name.dropFirst(stem.count))"
  }

  /// Returns the page with the addresses of its files in the place of their names.
  static func addressed(_ page: String, _ addresses: [String: String]) -> String {
    page.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      guard line.hasPrefix("<link ") || line.hasPrefix("<script ") else { return String(line) }
      return renamed(line, addresses)
    }.joined(separator: "\n")
  }

  /// Returns a text with the addresses of files in the place of their names, where these stand between quotation marks.
  private static func renamed(_ text: some StringProtocol, _ addresses: [String: String]) -> String {
    text.split(separator: "\"", omittingEmptySubsequences: false).map { addresses[String($0)] ?? String($0) }
      .joined(separator: "\"")
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
  /// No text in our scripts extends over several lines, so nothing else is changed (`ConsoleBundleTests`).
  static func short(_ script: [UInt8]) -> [UInt8] {
    let lines = script.split(separator: UInt8(ascii: "\n")).compactMap { line -> ArraySlice<UInt8>? in
      let text = line.drop { $0 == UInt8(ascii: " ") }
      return text.isEmpty || text.starts(with: "//".utf8) ? nil : text
    }
    return Array(lines.joined(separator: "\n".utf8)) + "\n".utf8
  }

  /// Returns a style sheet without its comments and the spaces that only people need, which is a tenth of it in gzip.
  static func short(style: [UInt8]) -> [UInt8] {
    let (space, star, slash) = (UInt8(ascii: " "), UInt8(ascii: "*"), UInt8(ascii: "/"))
    let (opening, closing, semicolon) = (UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: ";"))
    let needNone = [UInt8]("{};,: ".utf8)  // a space behind one of these
    var short: [UInt8] = []
    var quote: UInt8?
    var rest = style[...]
    while let byte = rest.popFirst() {
      if let mark = quote {
        short.append(byte)
        if byte == mark { quote = nil }
      } else if byte == slash, rest.first == star {
        while let next = rest.popFirst(), next != star || rest.first != slash {}
        rest = rest.dropFirst()
      } else if byte == space || byte == UInt8(ascii: "\n") {
        if let last = short.last, !needNone.contains(last) { short.append(space) }
      } else {
        if byte == opening || byte == closing, short.last == space { short.removeLast() }
        if byte == closing, short.last == semicolon { short.removeLast() }
        if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") { quote = byte }
        short.append(byte)
      }
    }
    return short
  }

  /// Returns the page with each run of consecutive scripts replaced by one file, and the files. Scripts that are needed
  /// at once and scripts that are fetched later form separate runs. A card of another package stays a separate file,
  /// because an error in it must not stop the page.
  static func bundled(_ page: String) -> (text: String, bundles: [Bundle]) {
    var lines: [Substring] = []
    var run: (tag: String, files: [String]) = ("", [])
    var bundles: [Bundle] = []
    func tag(of line: Substring) -> String? {
      line.contains(".card.js\"") ? nil : scriptTags.first { line.hasPrefix($0) }
    }
    let end: [Substring] = ["end"]
    for line in page.split(separator: "\n", omittingEmptySubsequences: false) + end {
      let own = tag(of: line) ?? ""
      if own != run.tag, !run.files.isEmpty {
        let bundle = Bundle(name: "page-\(bundles.count + 1).js", files: run.files)
        bundles.append(bundle)
        lines.append("\(run.tag)\(bundle.name)\"\(run.tag == scriptTags[0] ? "></script>" : ">")")
        run.files = []
      }
      run.tag = own
      if own.isEmpty {
        lines.append(line)
      } else {
        run.files.append(String(line.dropFirst(own.count).prefix { $0 != "\"" }))
      }
    }
    // A browser requests files that are named at the end of the page only when it has all before them.
    let now = lines.indices.filter { lines[$0].hasPrefix(scriptTags[0]) }
    if let first = now.first {
      let later = now.dropFirst().map { lines[$0].dropFirst(scriptTags[0].count).prefix { $0 != "\"" } }
      lines.insert(
        contentsOf: later.map { "<link rel=\"preload\" href=\"\($0)\" as=\"script\" fetchpriority=\"high\">" },
        at: first)
    }
    return (lines.dropLast().joined(separator: "\n"), bundles)
  }

  /// The beginnings of lines of the page that name a script: one that is needed at once, and one that is fetched when
  /// the page is live (`later.js`).
  private static let scriptTags = ["<script src=\"", "<link rel=\"later\" as=\"script\" href=\""]

  private func route(
    _ path: String, _ keeping: Keeping, _ name: String, _ framePolicy: String? = nil,
    _ file: @escaping @Sendable () -> [UInt8]
  ) -> Route {
    let kind =
      switch name.split(separator: ".").last {
      case "html": "text/html; charset=utf-8"
      case "css": "text/css; charset=utf-8"
      case "js": "text/javascript; charset=utf-8"
      case "svg": "image/svg+xml"
      case "png": "image/png"
      case "webmanifest": "application/manifest+json"
      default: preconditionFailure("\(name): a kind of file that has no content type")
      }
    let document = PreparedDocument(contentType: kind, keeping: keeping, framePolicy: framePolicy, file: file)
    return Route(path, scope: nil, document)
  }

  private var title: String { program.prefix(1).uppercased() + program.dropFirst() }

  /// Returns the web app manifest with the program's title as the name of the installed app, and with the addresses of its icons.
  private func named(_ manifest: [UInt8], _ addresses: [String: String]) -> [UInt8] {
    let text = String(decoding: manifest, as: UTF8.self).replacing("\"Tactus\"", with: "\"\(title)\"")
    return Array(Self.renamed(text, addresses).utf8)
  }

  /// The scripts that are in the page itself, before its style: they run before any file has come.
  private static let inner = ["early.js", "say.js", "polling.js", "later.js"]

  /// Returns the page with one script in the place of the consecutive lines that name some, and with its hash in the
  /// page's `Content-Security-Policy`, which admits no other script in the page itself.
  static func inlined(_ page: String, _ names: [String], _ script: String) -> String {
    let lines = names.map { "<script src=\"\($0)\"></script>" }.joined(separator: "\n")
    let policy = "script-src 'self'"
    precondition(page.contains(lines) && page.contains(policy), "index.html has no place for \(names)")
    precondition(!script.contains("<"), "\(names): a character that may end a script in HTML")
    let hash = Data(SystemCrypto.sha256(Array(script.utf8))).base64EncodedString()
    return page.replacing(policy, with: "\(policy) 'sha256-\(hash)'")
      .replacing(lines, with: "<script>\(script)</script>")
  }

  /// Returns the page with the cards and scripts of the systems inserted, and its scripts bundled.
  private func page(_ file: [UInt8]) -> (text: String, bundles: [Bundle]) {
    let text = String(decoding: file, as: UTF8.self)
    let sections = systems.map { String(decoding: $0.card, as: UTF8.self) } + cards.map(\.template)
    let scripts = (systems.map { "\($0.name).js" } + cards.map { "\($0.kind).card.js" }).map {
      "\(Self.scriptTags[1])\($0)\">\n"
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
    let whole = parts.reduce(text) { page, part in
      precondition(page.contains(part.0), "index.html has no place for \(part.0)")
      return page.replacing(part.0, with: part.1)
    }
    let script = Self.inner.map { String(decoding: self.script($0), as: UTF8.self) }.joined()
    return Self.bundled(Self.inlined(whole, Self.inner, script))
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
  ///   - kind: the name of the system; the script is served as `/KIND-HASH.card.js`.
  ///   - html: the HTML copied into each card of this kind.
  ///   - script: the script, which calls `ownCard(kind, show)`.
  ///   - style: CSS rules for elements that only this card has.
  public init(kind: String, html: [UInt8], script: [UInt8], style: [UInt8]) {
    (self.kind, self.html, self.script, self.style) = (kind, html, script, style)
  }

  /// The `template` element of this card in the page; the browser does not display it.
  var template: String { "<template id=\"card-\(kind)\">\(String(decoding: html, as: UTF8.self))</template>" }
}
