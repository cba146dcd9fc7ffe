import TactusGuard

/// The text of a safe-state plan: a first line, one line for each `SafeStateWrite`, and `end` with their number.
enum SafeStatePlanText {
  /// The contents of a plan's file.
  enum Contents: Equatable {
    case whole([SafeStateWrite])
    /// The text is damaged; `readable` are the writes of its complete lines, in their order.
    case damaged(readable: [SafeStateWrite], reason: String)
    case missing
  }

  private static let title = "tactus safe-state plan 1"

  static func text(_ writes: [SafeStateWrite]) -> String {
    let lines = [title] + writes.map(\.description) + ["end \(writes.count)"]
    return lines.joined(separator: "\n") + "\n"
  }

  /// Returns the contents of a plan from its text.
  ///
  /// - Parameter custom: the kinds of outputs that the program adds to those of the guard.
  static func contents(_ text: String, custom: Set<String>) -> Contents {
    // The last piece is behind the last line end: a line that was cut short.
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    guard lines.first == title[...] else {
      return .damaged(readable: [], reason: "line 1: expected \"\(title)\", got \"\(lines.first ?? "")\"")
    }
    var writes: [SafeStateWrite] = []
    var flaw: String?
    for (number, line) in lines.enumerated().dropFirst() {
      if line.hasPrefix("end ") {
        if flaw == nil, line != "end \(writes.count)" {
          flaw = "line \(number + 1): expected \"end \(writes.count)\", got \"\(line)\""
        }
        return flaw.map { .damaged(readable: writes, reason: $0) } ?? .whole(writes)
      }
      if let write = write(String(line), custom) {
        writes.append(write)
      } else {
        flaw = flaw ?? "line \(number + 1): expected a write, got \"\(line)\""
      }
    }
    return .damaged(
      readable: writes, reason: flaw ?? "expected \"end \(writes.count)\" as last line, got the end of the file")
  }

  /// Returns the write of a line, or `nil` if the line is malformed or is a write that no plan contains: one to a
  /// descriptor, or a program, which root would run for any account that can write the file.
  private static func write(_ text: String, _ custom: Set<String>) -> SafeStateWrite? {
    switch SafeStateWrite(text, custom: custom) {
    case nil, .program, .gpio(_, _, .some): nil
    case let write?: write
    }
  }
}
