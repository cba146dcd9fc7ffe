import ServiceDocuments
import Testing

@testable import Service

@Suite("the page's scripts in few files")
struct ConsoleBundleTests {
  @Test("runs of scripts are one file each, in their order; one alone, a card of another package and all else stay")
  func bundled() {
    let page = """
      <script src="language.js"></script>
      <main></main>
      <script src="say.js"></script>
      <script src="robot.js"></script>
      <script src="kettle.card.js"></script>
      <script src="cards.js"></script>
      <script src="systems.js"></script>
      </body>
      """
    let (text, bundles) = Console.bundled(page)
    #expect(
      text == """
        <link rel="preload" href="page-1.js" as="script" fetchpriority="high">
        <link rel="preload" href="page-2.js" as="script" fetchpriority="high">
        <script src="language.js"></script>
        <main></main>
        <script src="page-1.js"></script>
        <script src="kettle.card.js"></script>
        <script src="page-2.js"></script>
        </body>
        """)
    #expect(
      bundles == [
        Console.Bundle(name: "page-1.js", files: ["say.js", "robot.js"]),
        Console.Bundle(name: "page-2.js", files: ["cards.js", "systems.js"]),
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
