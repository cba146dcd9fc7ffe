import Foundation
import TestSupport
import Testing
import WallTime

@Suite(.ownThread) struct ScheduleReadmeTests {
  @Test("README of the schedule: every test that a rule names exists")
  func namedTestsExist() throws {
    let tests = URL(filePath: #filePath).deletingLastPathComponent()
    let readme = tests.appending(path: "../../../Sources/Systems/Sprinkler/Control/Schedule/README.md")
    let named = try String(contentsOf: readme, encoding: .utf8).split(separator: "\n")
      .map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { $0.hasPrefix("- `") && $0.hasSuffix("`") }
      .map { String($0.dropFirst(3).dropLast()) }
    #expect(named.count > 25)
    var sources = ""
    for case let file as URL in FileManager.default.enumerator(at: tests, includingPropertiesForKeys: nil)!
    where file.pathExtension == "swift" {
      sources += try String(contentsOf: file, encoding: .utf8)
    }
    for title in named { #expect(sources.contains("\"\(title)\""), "no test is called \(title)") }
  }
}
