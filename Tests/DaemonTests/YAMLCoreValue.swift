import Service
import Wire
import Yams

/// A YAML text as an editor sees it: typed by the core schema of YAML 1.2.
enum YAMLCoreValue {
  static func read(_ text: String) throws -> JSONValue {
    try Yams.compose(yaml: text, .basic).map(value) ?? .null
  }

  private static func value(_ node: Node) -> JSONValue {
    switch node {
    case .mapping(let pairs):
      .object(pairs.map { JSONValue.Member(name: $0.key.scalar?.string ?? "", value: value($0.value)) })
    case .sequence(let items): .list(items.map(value))
    case .scalar(let scalar):
      scalar.style == .plain || scalar.style == .any ? plain(scalar.string) : .text(scalar.string)
    case .alias: .null
    }
  }

  private static func plain(_ text: String) -> JSONValue {
    if ["", "~", "null", "Null", "NULL"].contains(text) { return .null }
    if ["true", "True", "TRUE"].contains(text) { return .boolean(true) }
    if ["false", "False", "FALSE"].contains(text) { return .boolean(false) }
    if text.wholeMatch(of: /0o[0-7]+|0x[0-9a-fA-F]+/) != nil,
      let number = Int(text.dropFirst(2), radix: text.hasPrefix("0x") ? 16 : 8)
    {
      return .integer(number)
    }
    if text.wholeMatch(of: /[-+]?[0-9]+/) != nil, let number = Int(text) { return .integer(number) }
    if text.wholeMatch(of: /[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?/) != nil, let number = Double(text) {
      return .number(String(number))
    }
    return .text(text)
  }
}
