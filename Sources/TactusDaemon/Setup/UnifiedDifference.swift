/// The difference of two texts in the format of `diff -u`: removed lines, added lines, and three unchanged lines around them.
enum UnifiedDifference {
  private enum Edit { case same, removed, added }

  /// Returns the difference, or an empty text if both texts are the same. `old` is `nil` for a file that does not exist yet.
  ///
  /// It is for a terminal: what a person would not see is escaped in each line.
  static func text(of path: String, from old: String?, to new: String) -> String {
    let (before, after) = ((old ?? "").lines, new.lines)
    let edits = edits(from: before, to: after)
    guard let first = edits.firstIndex(where: { $0.edit != .same }),
      let last = edits.lastIndex(where: { $0.edit != .same })
    else { return "" }
    // One hunk: the files are short, and what lies between two changes is worth seeing.
    let hunk = edits[max(0, first - 3)...min(edits.count - 1, last + 3)]
    let skipped = edits[..<hunk.startIndex]
    func range(_ gone: Edit) -> String {
      let count = hunk.count { $0.edit != gone }
      let start = skipped.count { $0.edit != gone } + (count == 0 ? 0 : 1)
      return count == 1 ? "\(start)" : "\(start),\(count)"
    }
    let path = shown(path)
    var text = "--- \(old == nil ? "/dev/null" : path)\n+++ \(path)\n@@ -\(range(.added)) +\(range(.removed)) @@\n"
    for (edit, line) in hunk {
      text += (edit == .same ? " " : edit == .removed ? "-" : "+") + shown(line) + "\n"
    }
    return text
  }

  /// Returns a line as `JSONLine.inOneLine` has it, except that tabs stay as they are.
  private static func shown(_ line: String) -> String {
    line.split(separator: "\t", omittingEmptySubsequences: false).map { JSONLine.inOneLine(String($0)) }
      .joined(separator: "\t")
  }

  /// Returns the edits by the longest common subsequence. The time is quadratic, which suits files of some hundred lines.
  private static func edits(from old: [String], to new: [String]) -> [(edit: Edit, line: String)] {
    var common = [[Int]](repeating: [Int](repeating: 0, count: new.count + 1), count: old.count + 1)
    for one in old.indices.reversed() {
      for other in new.indices.reversed() {
        common[one][other] =
          old[one] == new[other]
          ? common[one + 1][other + 1] + 1 : max(common[one + 1][other], common[one][other + 1])
      }
    }
    var edits: [(edit: Edit, line: String)] = []
    var (one, other) = (0, 0)
    while one < old.count || other < new.count {
      if one < old.count, other < new.count, old[one] == new[other] {
        edits.append((.same, old[one]))
        (one, other) = (one + 1, other + 1)
      } else if one < old.count, other == new.count || common[one + 1][other] >= common[one][other + 1] {
        edits.append((.removed, old[one]))
        one += 1
      } else {
        edits.append((.added, new[other]))
        other += 1
      }
    }
    return edits
  }
}
