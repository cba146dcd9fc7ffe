import DaemonSupport
import Foundation
import Testing

/// A page's blocks of Swift that are excerpts of files which the build compiles.
///
/// The first line of such a block names the file (`// Examples/fan-daemon/Package.swift`), and a line `// …` stands for what is left out. Indentation and
/// empty lines do not count.
enum PageExcerpts {
  /// Returns the lines of each block of Swift of a page, without their indentation.
  static func blocks(of page: String) -> [[Substring]] {
    var blocks: [[Substring]] = []
    // The block that is being read, or `nil` between two.
    var block: [Substring]?
    for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("```") {
        if let block { blocks.append(block) }
        block = block == nil && line == "```swift" ? [] : nil
      } else {
        block?.append(contentsOf: lines(of: line))
      }
    }
    return blocks
  }

  /// Returns the lines that are not empty, without their indentation.
  static func lines(of text: Substring) -> [Substring] {
    text.split(separator: "\n").map { line in line.drop { $0 == " " } }.filter { !$0.isEmpty }
  }

  /// Records an issue for a block whose parts do not stand in the file that it names, in the same order.
  static func check(_ block: [Substring]) throws {
    let name = try #require(block.first?.dropFirst(3))
    let text = try String(contentsOf: repository.appending(path: name), encoding: .utf8)
    var rest = lines(of: text[...])[...]
    for part in block.dropFirst().split(separator: "// …") {
      guard let start = rest.indices.first(where: { rest[$0...].starts(with: part) }) else {
        Issue.record("\(name) has no such lines:\n\(part.joined(separator: "\n"))")
        break
      }
      rest = rest[(start + part.count)...]
    }
  }
}

@Suite("docs/own-daemon.md: what a device is written from")
struct OwnDaemonPageTests {
  @Test("its first page has the package, the declaration, the rules, the loop and the twin as they are compiled")
  func excerpts() throws {
    let page = try String(contentsOf: repository.appending(path: "docs/own-daemon.md"), encoding: .utf8)
    let blocks = PageExcerpts.blocks(of: page).filter { block in
      block.first?.hasPrefix("// Examples/") == true || block.first?.hasPrefix("// Sources/") == true
    }
    let parts = ["Package", "Sources/Fan/Fan", "Sources/Fan/FanMachine", "Sources/Fan/FanLoop", "Sources/Fan/FanTwin"]
    let wanted =
      ["Sources/Tactus/Mailboxes/LoopEnds.swift"]
      + (parts + ["Sources/fan-daemon/main"]).map { "Examples/fan-daemon/\($0).swift" }
    #expect(blocks.compactMap { $0.first?.dropFirst(3) }.map { String($0) }.sorted() == wanted.sorted())
    for block in blocks { try PageExcerpts.check(block) }
  }

  @Test("the first page names each call of a tick with its signature, before the reference begins")
  func calls() throws {
    let page = try String(contentsOf: repository.appending(path: "docs/own-daemon.md"), encoding: .utf8)
    let first = try #require(page.components(separatedBy: "## What you declare").first)
    for call in ["begin(_ tick: Tick)", "next() ->", "answer(_ request:", "finish(_ state: State, isSafe: Bool)"] {
      #expect(first.contains("public mutating func \(call)"), "\(call)")
    }
  }
}
