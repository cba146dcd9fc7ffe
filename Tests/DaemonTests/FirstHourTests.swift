import DaemonSupport
import Foundation
import Testing

/// An owner looks for what the page or the log has said. Where a message is written anew its row is, too.
@Suite("docs/first-hour.md: its messages and its files are ours")
struct FirstHourTests {
  private static let page =
    (try? String(contentsOf: repository.appending(path: "docs/first-hour.md"), encoding: .utf8)) ?? ""

  /// The symptoms of the table: what stands between backquotes in the first column.
  private static var symptoms: [[String]] {
    let rows = page.components(separatedBy: "## Something is wrong").last?.split(separator: "\n") ?? []
    return rows.filter { $0.hasPrefix("| ") && !$0.hasPrefix("| what you see") }.map { row in
      let symptom = row.split(separator: "|").first ?? ""
      return symptom.matches(of: /`([^`]+)`/).map { String($0.output.1) }
    }
  }

  @Test("each symptom of the table is a message or a code that stands in Sources")
  func messages() throws {
    #expect(Self.symptoms.count >= 30)
    let sources = repository.appending(path: "Sources")
    let files = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
    let texts = (files?.compactMap { $0 as? URL } ?? [])
      .filter { ["swift", "js", "html"].contains($0.pathExtension) }
      .compactMap { try? Data(contentsOf: $0) }
    try #require(texts.count > 500)
    for symptom in Self.symptoms {
      #expect(!symptom.isEmpty, "a row without a message")
      for message in symptom {
        #expect(message.utf8.count > 7, "too short to be found by: \(message)")
        let bytes = Data(message.utf8)
        #expect(texts.contains { $0.range(of: bytes) != nil }, "nothing says: \(message)")
      }
    }
  }

  @Test("each of its configuration files is one that the daemon takes")
  func configurations() {
    var files: [String] = []
    var isInFile = false
    // In an item of a list a file is indented as the item is.
    var indentation = 0
    for line in Self.page.split(separator: "\n", omittingEmptySubsequences: false) {
      let text = line.drop { $0 == " " }
      if text.hasPrefix("```") {
        isInFile = text == "```yaml"
        indentation = line.utf8.count - text.utf8.count
        if isInFile { files.append("") }
      } else if isInFile {
        files[files.count - 1] += "\(line.dropFirst(indentation))\n"
      }
    }
    #expect(files.count == 3)
    for file in files { #expect(errors(file, environment: ["MQTT_PASSWORD": "secret"]) == [], "\(file)") }
  }
}
