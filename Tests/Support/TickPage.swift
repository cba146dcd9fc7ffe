import Foundation

/// The page that says what a tick may do: Sources/Tactus/Tactus.docc/WhatATickMayDo.md.
public struct TickPage {
  public struct Row: Sendable {
    /// The heading above the row: what the compiler says.
    public var heading: String
    public var rejected: String
    /// What may stand in its place, if that is code; the second column also has sentences.
    public var instead: String?
  }

  /// The page's declarations, up to the loop.
  public let declarations: String
  /// The loop that a row is tried in.
  public let loop: String
  public let rejected: [Row]
  public let accepted: [String]

  public init() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
    let text = try String(
      contentsOf: root.appending(path: "Sources/Tactus/Tactus.docc/WhatATickMayDo.md"), encoding: .utf8)
    let example = text.components(separatedBy: "```swift\n")[1].components(separatedBy: "```")[0]
    let start = example.range(of: "struct Tried")!.lowerBound
    declarations = String(example[..<start])
    loop = String(example[start...])
    var rejected: [Row] = []
    var accepted: [String] = []
    var heading = ""
    for line in text.components(separatedBy: "\n") {
      if line.hasPrefix("### ") { heading = String(line.dropFirst(4)) }
      guard line.hasPrefix("| `") else { continue }
      let cells = line.dropFirst(2).dropLast(2).components(separatedBy: " | ")
      if cells.count == 1 {
        accepted.append(Self.code(cells[0])!)
      } else {
        rejected.append(Row(heading: heading, rejected: Self.code(cells[0])!, instead: Self.code(cells[1])))
      }
    }
    (self.rejected, self.accepted) = (rejected, accepted)
  }

  private static func code(_ cell: String) -> String? {
    cell.hasPrefix("`") && cell.hasSuffix("`") ? String(cell.dropFirst().dropLast()) : nil
  }

  /// One loop for each line, each a line of the source.
  ///
  /// - Returns: the source, and the numbers of the lines where the tried ones stand.
  public func source(_ tried: [String], promised: Bool) -> (text: String, lines: [Int]) {
    var text = declarations
    var lines: [Int] = []
    for (index, line) in tried.enumerated() {
      var loop = loop.replacingOccurrences(of: "Tried", with: "Tried\(index)")
        .replacingOccurrences(of: "/* the row */", with: line)
      if !promised { loop = loop.replacingOccurrences(of: "@_noLocks @_noAllocation\n", with: "\n") }
      let before = text + loop[..<loop.range(of: line)!.lowerBound]
      lines.append(before.components(separatedBy: "\n").count)
      text += loop
    }
    if !promised { text = text.replacingOccurrences(of: "@_noLocks @_noAllocation func own", with: "func own") }
    return (text, lines)
  }
}
