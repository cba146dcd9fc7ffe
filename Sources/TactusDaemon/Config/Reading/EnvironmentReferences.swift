/// Replaces each `${NAME}` in a text by the value of the environment variable; `$${` stands for a literal `${`.
///
/// Fails if a variable is not set, or if a reference is malformed.
struct EnvironmentReferences {
  enum Failure: Error, Equatable {
    case missing(String)
    case malformed
  }

  let environment: [String: String]

  /// Returns the text with its references replaced, and whether it had any; a value with references is secret and never printed.
  func expand(_ text: String) throws(Failure) -> (text: String, secret: Bool) {
    var result = ""
    var secret = false
    var rest = text[...]
    while let dollar = rest.firstIndex(of: "$") {
      result += rest[..<dollar]
      rest = rest[dollar...]
      if rest.hasPrefix("$${") {
        result += "${"
        rest = rest.dropFirst(3)
      } else if rest.hasPrefix("${") {
        guard let end = rest.firstIndex(of: "}") else { throw .malformed }
        let name = String(rest[..<end].dropFirst(2))
        guard !name.isEmpty, name.allSatisfy({ $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber) }) else {
          throw .malformed
        }
        guard let value = environment[name] else { throw .missing(name) }
        result += value
        secret = true
        rest = rest[rest.index(after: end)...]
      } else {
        result += "$"
        rest = rest.dropFirst()
      }
    }
    return (result + rest, secret)
  }
}
