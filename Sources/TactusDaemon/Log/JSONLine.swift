/// Builds one JSON object on one line, with members in the order in which they are added.
struct JSONLine {
  private var body = "{"

  mutating func add(_ name: String, _ value: String) {
    add(name, raw: Self.quoted(value))
  }

  /// Adds a member whose value `raw` is JSON already.
  mutating func add(_ name: String, raw: String) {
    if body.utf8.count > 1 { body += "," }
    body += Self.quoted(name) + ":" + raw
  }

  var text: String { body + "}" }

  static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value):
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  /// Returns the text in one line for people: with control characters escaped as in JSON, so that a text from outside cannot forge a second line or
  /// move the cursor. A text without control characters stays as it is.
  static func inOneLine(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else { return text }
    return String(quoted(text).dropFirst().dropLast()).replacing("\\\"", with: "\"")
  }
}
