import Foundation
import TestSupport
import Testing

@Suite(.ownThread) struct ReadmeTests {
  @Test("README: every test that a rule names exists")
  func namedTestsExist() throws {
    let tests = URL(filePath: #filePath).deletingLastPathComponent()
    let readme = tests.appending(path: "../../Sources/Plants/README.md")
    let named = try String(contentsOf: readme, encoding: .utf8).split(separator: "\n")
      .map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { $0.hasPrefix("- `") && $0.hasSuffix("`") }
      .map { String($0.dropFirst(3).dropLast()) }
    #expect(named.count > 25)
    var sources = ""
    for folder in [".", "../ServiceTests/Plants", "../StoreTests"] {
      let files = FileManager.default.enumerator(at: tests.appending(path: folder), includingPropertiesForKeys: nil)
      for case let file as URL in try #require(files) where file.pathExtension == "swift" {
        sources += try String(contentsOf: file, encoding: .utf8)
      }
    }
    for title in named { #expect(sources.contains("\"\(title)\""), "no test is called \(title)") }
  }
}
