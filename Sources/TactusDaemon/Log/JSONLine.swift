import Wire

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

  /// Returns the text as a JSON string in quotation marks, in which every scalar that a person would not see is escaped.
  static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where !GivenName.isPart(scalar):
        for unit in String(scalar).utf16 {
          let digits = String(unit, radix: 16)
          result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  /// Returns the text in one line for people: with control characters and invisible ones escaped as in JSON, so that a text from outside cannot forge a
  /// second line, move the cursor or turn what stands beside it round. A text without such characters stays as it is.
  ///
  /// The log, the errors of files and the commands all show text from outside by this rule.
  static func inOneLine(_ text: String) -> String {
    guard !text.unicodeScalars.allSatisfy(GivenName.isPart) else { return text }
    return String(quoted(text).dropFirst().dropLast()).replacing("\\\"", with: "\"")
  }
}
