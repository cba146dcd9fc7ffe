import Foundation
import ServiceDocuments
import Testing

@testable import Service

@Suite("the page's scripts in few files")
struct ConsoleBundleTests {
  @Test(
    "runs of scripts are one file each, in their order, apart if they are fetched later; a card of another package and all else stay"
  )
  func bundled() {
    let page = """
      <link rel="later" href="help.js">
      <script src="language.js"></script>
      <main></main>
      <script src="say.js"></script>
      <script src="words.js"></script>
      <link rel="later" as="script" href="robot.js">
      <link rel="later" as="script" href="kettle.card.js">
      <link rel="later" as="script" href="cards.js">
      <link rel="later" as="script" href="systems.js">
      </body>
      """
    let (text, bundles) = Console.bundled(page)
    #expect(
      text == """
        <link rel="later" href="help.js">
        <link rel="preload" href="page-2.js" as="script" fetchpriority="high">
        <script src="page-1.js"></script>
        <main></main>
        <script src="page-2.js"></script>
        <link rel="later" as="script" href="page-3.js">
        <link rel="later" as="script" href="kettle.card.js">
        <link rel="later" as="script" href="page-4.js">
        </body>
        """)
    #expect(
      bundles == [
        Console.Bundle(name: "page-1.js", files: ["language.js"]),
        Console.Bundle(name: "page-2.js", files: ["say.js", "words.js"]),
        Console.Bundle(name: "page-3.js", files: ["robot.js"]),
        Console.Bundle(name: "page-4.js", files: ["cards.js", "systems.js"]),
      ])
    #expect(Console.bundled("<p>\n").text == "<p>\n")
  }

  @Test("a script is sent without its comments and indentation, and nothing else of it is missing")
  func short() {
    let script = "\"use strict\";\n// why\n\nif (a) {\n  b(\"// no comment\"); // stays\n    // gone\n}"
    #expect(
      String(decoding: Console.short(Array(script.utf8)), as: UTF8.self)
        == "\"use strict\";\nif (a) {\nb(\"// no comment\"); // stays\n}\n")
  }

  @Test("a style sheet is sent without its comments and the spaces that only people need; what is quoted stays")
  func style() {
    let style = """
      /* what's "this" */
      .a :is(b, c) > d, e { top: 0; content: ", { ; }"; }
      @media (max-width: 34rem) { f::after { x: calc(1px - 2px); } }

      """
    #expect(
      String(decoding: Console.short(style: Array(style.utf8)), as: UTF8.self)
        == ".a :is(b,c) > d,e{top:0;content:\", { ; }\"}@media (max-width:34rem){f::after{x:calc(1px - 2px)}}")
  }

  @Test("a file's name changes with its contents, and with nothing else")
  func address() {
    let one = Console.address(of: "kettle.card.js", Array("a".utf8))
    #expect(one.wholeMatch(of: /kettle-[0-9a-f]{12}\.card\.js/) != nil)
    #expect(one == Console.address(of: "kettle.card.js", Array("a".utf8)))
    #expect(one != Console.address(of: "kettle.card.js", Array("b".utf8)))
    #expect(
      Console.addressed("<link href=\"a.js\">\n<p>\"a.js\"</p>", ["a.js": "a-1.js"])
        == "<link href=\"a-1.js\">\n<p>\"a.js\"</p>")
  }

  @Test(
    "the page names each of its files, whose name says what is in it; a card that is another changes its file alone")
  func files() throws {
    func routes(_ script: String) -> [Route] {
      let card = OwnCard(kind: "kettle", html: [], script: Array(script.utf8), style: [])
      return Console(systems: [], cards: [card], program: "tactus", timeZone: "UTC").routes
    }
    func served(_ route: Route) throws -> PreparedDocument {
      guard case .prepared(let document) = route.handling else { throw APIError.notFound("no file") }
      return document
    }
    let all = routes("one")
    // The manifest names icons of its own.
    let pages = all.filter { $0.path == "/" || $0.path.hasSuffix(".webmanifest") }
    let page = try pages.map { String(decoding: try served($0).bytes.readableBytesView, as: UTF8.self) }.joined()
    for route in all {
      let document = try served(route)
      let name = route.path.dropFirst()
      let isKept = route.path != "/" && route.path != "/worker.js"
      #expect(document.keeping == (isKept ? .forever : .asked), "\(name)")
      guard isKept else { continue }
      #expect(page.contains("\"\(name)\""), "\(name)")
      let hash = Console.address(of: "x.js", Array(document.bytes.readableBytesView)).dropFirst().prefix(13)
      #expect(name.contains(hash), "\(name)")
    }
    let changed = Set(all.map(\.path)).symmetricDifference(routes("two").map(\.path))
    #expect(changed.count == 2 && changed.allSatisfy { $0.hasPrefix("/kettle-") && $0.hasSuffix(".card.js") })
  }

  @Test("each script of the page is named in it, or is the service worker")
  func named() {
    let page = String(decoding: ServiceDocuments.bytes("Console/index.html"), as: UTF8.self)
    for name in ServiceDocuments.page where name.hasSuffix(".js") && name != "worker.js" {
      #expect(page.contains("=\"\(name)\""), "\(name)")
    }
  }

  @Test("the page says the controller's time zone; what is no identifier is not said")
  func timeZone() throws {
    for (zone, said) in [
      ("America/Argentina/Buenos_Aires", "America/Argentina/Buenos_Aires"), ("Etc/GMT+3", "Etc/GMT+3"), ("\"><b>", ""),
    ] {
      let routes = Console(systems: [], program: "tactus", timeZone: zone).routes
      guard case .prepared(let document) = try #require(routes.first { $0.path == "/" }).handling else {
        Issue.record("the page is no file")
        continue
      }
      let text = String(decoding: document.bytes.readableBytesView, as: UTF8.self)
      #expect(text.contains("<html lang=\"en\" data-time-zone=\"\(said)\">"))
    }
  }

  @Test("the script that opens the socket is in the page itself, before its style, and only that one may be")
  func early() throws {
    let routes = Console(systems: [], program: "tactus", timeZone: "UTC").routes
    guard case .prepared(let document) = try #require(routes.first { $0.path == "/" }).handling else {
      Issue.record("the page is no file")
      return
    }
    let text = String(decoding: document.bytes.readableBytesView, as: UTF8.self)
    let parts = text.split(separator: "<script>", omittingEmptySubsequences: false)
    try #require(parts.count == 2)
    let script = parts[1].prefix { $0 != "<" }
    #expect(script.contains("new WebSocket(") && parts[1].dropFirst(script.count).hasPrefix("</script>"))
    #expect(!parts[0].contains("rel=\"stylesheet\""))
    let hash = Data(SystemCrypto.sha256(Array(script.utf8))).base64EncodedString()
    #expect(text.contains("script-src 'self' 'sha256-\(hash)'; style-src 'self'; "))
    #expect(!routes.contains { $0.path.hasPrefix("/early") })
  }

  @Test("no text of the page's scripts goes over more than one line")
  func texts() {
    let quoted = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/
    for name in ServiceDocuments.page where name.hasSuffix(".js") {
      let script = String(decoding: ServiceDocuments.bytes("Console/" + name), as: UTF8.self)
      for line in script.split(separator: "\n") {
        let ticks = line.replacing(quoted, with: "").filter { $0 == "`" }.count
        #expect(ticks.isMultiple(of: 2), "\(name): \(line)")
      }
    }
  }
}
