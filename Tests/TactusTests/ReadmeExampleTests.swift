import Foundation
import TestSupport
import Testing

/// The Swift of every page that an embedder reads, compiled as the page has it.
@Suite("Examples of the pages for embedders", .ownThread)
struct ReadmeExampleTests {
  /// Pages whose Swift is one program, from top to bottom. Every library product has one among them.
  static let pages = [
    "Tactus/Tactus.docc/ALoopInTenMinutes.md", "Tactus/Tactus.docc/SimulateBeforeYouStart.md",
    "Tactus/Tactus.docc/ReadingTheStatistics.md", "Tactus/Tactus.docc/RealTimeSetUpOfAMachine.md", "Buses/README.md",
    "Devices/README.md", "Systems/Robot/README.md", "Systems/Leg/README.md", "Systems/Sprinkler/README.md",
    "Systems/Pump/README.md",
    "Systems/Plants/README.md",
  ]

  @Test("it compiles without a warning", arguments: pages)
  func compiles(page: String) throws {
    let text = try String(contentsOf: HouseTests.root.appending(path: "Sources/\(page)"), encoding: .utf8)
    let blocks = text.components(separatedBy: "```swift\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
    try #require(!blocks.isEmpty, "\(page) has no Swift")
    let (status, output) = try compile(blocks.joined(separator: "\n"), asProgram: true)
    #expect(status == 0 && !output.contains("warning:"), "\(page): \(output)")
  }

  @Test("an example that does not compile is found")
  func finding() throws {
    #expect(try compile("import Tactus\nlet a: TickInstant = 1", asProgram: true).status != 0)
    #expect(try compile("import Tactus\nprint(TickInstant.zero)", asProgram: true).status == 0)
  }
}
