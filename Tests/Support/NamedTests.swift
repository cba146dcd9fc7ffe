import Foundation
import Testing

/// Expects a test for every title that a README names: lines `- \`title\``, the titles those of the calling file's target and of `others`.
///
/// - Parameters:
///   - folder: of the README, in `Sources`.
///   - others: further folders of `Tests` in which tests may be.
///   - fewest: how many titles it names at least, so that a README in another form does not pass unread.
public func expectNamedTests(
  of folder: String, and others: [String] = [], fewest: Int, in file: String = #filePath,
  sourceLocation: SourceLocation = #_sourceLocation
) throws {
  let tests = URL(filePath: file).deletingLastPathComponent()
  let readme = tests.appending(path: "../../Sources/\(folder)/README.md")
  let named = try String(contentsOf: readme, encoding: .utf8).split(separator: "\n")
    .map { $0.trimmingCharacters(in: .whitespaces) }
    .filter { $0.hasPrefix("- `") && $0.hasSuffix("`") }
    .map { String($0.dropFirst(3).dropLast()) }
  #expect(named.count >= fewest, sourceLocation: sourceLocation)
  var sources = ""
  for folder in ["."] + others.map({ "../" + $0 }) {
    let files = FileManager.default.enumerator(at: tests.appending(path: folder), includingPropertiesForKeys: nil)
    for case let file as URL in try #require(files) where file.pathExtension == "swift" {
      sources += try String(contentsOf: file, encoding: .utf8)
    }
  }
  for title in named {
    #expect(sources.contains("\"\(title)\""), "no test is called \(title)", sourceLocation: sourceLocation)
  }
}
