/// Formats text for terminals that may be narrow: that of a phone has 40 columns.
public enum TerminalText {
  /// Returns the text with as many spaces after it as fill `width` columns, 0 or more. A longer text is returned as it is.
  public static func left(_ text: String, _ width: Int) -> String { text + spaces(width - text.count) }

  /// Returns the text with as many spaces before it as fill `width` columns, 0 or more. A longer text is returned as it is.
  public static func right(_ text: String, _ width: Int) -> String { spaces(width - text.count) + text }

  private static func spaces(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }

  /// Returns a line broken into as many lines as necessary, without losing text. It is broken between parts, which are
  /// separated by three spaces, or else between words. All lines but the first begin with `indent` spaces.
  public static func wrapped(_ text: String, width: Int, indent: Int = 0) -> [String] {
    guard text.count > width, width > 1 else { return [text] }
    let margin = spaces(min(indent, width / 2))
    let room = width - margin.count
    var lines: [String] = []
    func add(_ piece: some StringProtocol, after gap: String) {
      guard let last = lines.last else { return lines.append(String(piece)) }
      if last.count + gap.count + piece.count <= width {
        lines[lines.count - 1] += gap + piece
      } else {
        lines.append(margin + piece)
      }
    }
    for part in parts(of: text) {
      guard part.text.count > room else {
        add(part.text, after: part.gap)
        continue
      }
      for (index, word) in part.text.split(separator: " ").enumerated() {
        var rest = word
        add(rest.prefix(room), after: index == 0 ? part.gap : " ")
        rest = rest.dropFirst(room)
        while !rest.isEmpty {
          lines.append(margin + rest.prefix(room))
          rest = rest.dropFirst(room)
        }
      }
    }
    return lines
  }

  /// Returns the parts of a text that three or more spaces separate, each with the spaces before it.
  private static func parts(of text: String) -> [(gap: String, text: String)] {
    var parts: [(gap: String, text: String)] = [("", "")]
    var spaces = ""
    for character in text {
      if character == " " {
        spaces.append(character)
        continue
      }
      if spaces.count >= 3 {
        parts.append((spaces, ""))
      } else {
        parts[parts.count - 1].text += spaces
      }
      spaces = ""
      parts[parts.count - 1].text.append(character)
    }
    return parts
  }
}
