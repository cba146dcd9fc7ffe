import Foundation
import TestSupport
import Testing

/// The page that says what a tick may do, row by row, in debug and in release builds.
@Suite("What a tick may do", .ownThread)
struct RejectionTests {
  static let modes: [[String]] = [[], ["-O"]]

  @Test("every rejected row is rejected, with the message that it stands under", arguments: modes)
  func rejected(options: [String]) throws {
    let page = try TickPage()
    try #require(page.rejected.count > 40)
    let (source, lines) = page.source(page.rejected.map(\.rejected), promised: true)
    let errors = Self.errors(try compile(source, options: options).output)
    for (row, line) in zip(page.rejected, lines) {
      let said = errors.filter { $0.line == line }.map(\.message)
      // A type's name stands where the heading has "…".
      let parts = row.heading.components(separatedBy: "…")
      #expect(
        said.contains { message in parts.allSatisfy { message.contains($0) } },
        "\(row.rejected): expected \"\(row.heading)\", the compiler says \(said)")
    }
  }

  @Test("it is the promise that rejects them: without it, all compile")
  func unpromised() throws {
    let page = try TickPage()
    let (status, output) = try compile(page.source(page.rejected.map(\.rejected), promised: false).text)
    #expect(status == 0, "\(output)")
  }

  @Test("what stands in their place is accepted, and so is all that the page calls accepted", arguments: modes)
  func accepted(options: [String]) throws {
    let page = try TickPage()
    try #require(page.accepted.count > 20)
    let (status, output) = try compile(
      page.source(page.rejected.compactMap(\.instead) + page.accepted, promised: true).text, options: options)
    #expect(status == 0, "\(output)")
  }

  /// The compiler's errors with their lines.
  static func errors(_ output: String) -> [(line: Int, message: String)] {
    output.components(separatedBy: "\n").compactMap { text in
      let parts = text.components(separatedBy: ": error: ")
      guard parts.count == 2 else { return nil }
      let place = parts[0].components(separatedBy: "Loop.swift:")
      guard place.count == 2, let line = Int(place[1].prefix { $0 != ":" }) else { return nil }
      return (line, parts[1])
    }
  }
}
