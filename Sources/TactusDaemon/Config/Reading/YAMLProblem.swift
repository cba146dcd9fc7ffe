import Yams

/// The error of a text that is not YAML, in words for people who do not know the parser's tokens.
struct YAMLProblem {
  /// The place of the error, or `nil` if it concerns the text as a whole.
  let place: (line: Int, column: Int)?
  let words: String
  /// A line, counted from 1, of the section that must be corrected, or `nil` if it is unknown.
  let sectionLine: Int?

  init(_ error: YamlError, in text: String) {
    switch error {
    case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
      .composer(let context, let problem, let mark, _):
      // An unclosed quotation or list began earlier.
      let isOpen = context.map { $0.text.contains("flow") || $0.text.contains("quoted") } ?? false
      sectionLine = isOpen ? context?.mark.line : mark.line
      let isUnclosed = problem.hasPrefix("did not find expected ','") || problem == "found unexpected end of stream"
      // The error is placed at the opening; the parser notices it lines below.
      if isUnclosed, isOpen, let opening = context?.mark, opening.line < mark.line || problem.hasPrefix("found") {
        place = (opening.line, opening.column)
        words = Self.unclosed(problem, at: mark, in: text)
      } else {
        place = (mark.line, mark.column)
        words = Self.sentence(of: problem, context: context?.text ?? "", at: mark, in: text)
      }
    case .reader(let problem, let offset, _, _):
      let place = offset.map { Self.place(of: $0, in: text) }
      self.place = place
      words =
        problem.contains("control characters")
        ? "expected text, got a control character" : "expected text in UTF-8, got something else (\(problem))"
      sectionLine = place?.line
    default:
      (place, words, sectionLine) = (nil, "expected YAML, got \(error)", nil)
    }
  }

  private static func unclosed(_ problem: String, at mark: Mark, in text: String) -> String {
    guard problem.hasPrefix("did") else {
      return "expected a quote that ends the text which begins here, got the end of the file"
    }
    let got = character(at: mark, in: text).map { "'\($0)' in line \(mark.line)" } ?? "the end of the file"
    return "expected ',' or '\(problem.contains("]") ? "]" : "}")' in the list or mapping that begins here, got \(got)"
  }

  private static func sentence(of problem: String, context: String, at mark: Mark, in text: String) -> String {
    let character = character(at: mark, in: text)
    if character == "\t", !context.contains("quoted") {
      return "expected spaces, got a tab (YAML indents with spaces only)"
    }
    switch problem {
    case "found character that cannot start any token":
      let shown = character.map { "'\($0)'" } ?? "the end"
      return "expected a value, got \(shown), with which none begins: put the value between quotes"
    case "mapping values are not allowed in this context":
      return "expected the end of the value, got ':': put a value that has one between quotes, or see whether the "
        + "indentation is that of the lines above"
    case "could not find expected ':'", "could not found expected ':'":
      return "expected ':' and a space behind the key, got the end of the line"
    case "did not find expected key", "did not find expected <block end>":
      return "expected a key that is indented as the keys above, got something else"
    case "did not find expected '-' indicator":
      return "expected '-' and a list item that is indented as the items above, got something else"
    case "did not find expected ',' or ']'", "did not find expected ',' or '}'":
      let bracket = problem.contains("]") ? "]" : "}"
      return "expected ',' or '\(bracket)', got " + (character.map { "'\($0)'" } ?? "the end of the file")
        + ": the list or mapping before it is not closed"
    case "did not find expected node content":
      return "expected a value, got " + (character.map { "'\($0)'" } ?? "the end of the file")
    case "found unknown escape character":
      return
        "expected \\n, \\t, \\\" or another escape between double quotes, got an unknown one: single quotes take it as it is"
    case "found undefined alias":
      return "expected a value, got '*' and a name that nothing has: put the value between quotes"
    case _ where problem.hasPrefix("Maximum nesting level"):
      return YAMLLimits.expectedLevels
    default:
      return "expected YAML, got what its parser calls: \(problem)"
    }
  }

  private static func character(at mark: Mark, in text: String) -> Unicode.Scalar? {
    let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.indices.contains(mark.line - 1) else { return nil }
    return lines[mark.line - 1].dropFirst(mark.column - 1).first
  }

  private static func place(of offset: Int, in text: String) -> (line: Int, column: Int) {
    let before = text.prefix(offset)
    let lines = before.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
    return (lines.count, (lines.last?.count ?? 0) + 1)
  }
}
