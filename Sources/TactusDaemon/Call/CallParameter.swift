import Service
import Wire

/// A named value of a command, as the OpenAPI document describes it.
struct CallParameter {
  let name: String
  let isRequired: Bool
  /// JSON Schema's: `integer`, `string`; empty if the document says none.
  let types: Set<String>
  /// Texts that it may be; empty: any.
  let choices: [String]
  /// As the document writes them; `nil` if there is none, or if alternatives have different ones.
  let minimum: String?
  let maximum: String?
  let unit: String?

  /// - Parameter schemas: all that apply to it, references resolved.
  init(_ name: String, isRequired: Bool, schemas: [JSONValue]) {
    (self.name, self.isRequired) = (name, isRequired)
    let known = schemas.flatMap { ($0["enum"]?.items ?? []) + [$0["const"]].compactMap(\.self) }
    var types: Set<String> = []
    for type in schemas.compactMap({ $0["type"] }) { types.formUnion((type.items + [type]).compactMap(\.string)) }
    if types.isEmpty, !known.isEmpty { types = Set(known.map(Self.type)) }
    self.types = types
    choices = known.reduce(into: []) { choices, value in
      if let text = value.string, !choices.contains(text) { choices.append(text) }
    }
    minimum = Self.common("minimum", schemas)
    maximum = Self.common("maximum", schemas)
    unit = schemas.lazy.compactMap { $0["x-unit"]?.string }.first
  }

  private static func common(_ keyword: String, _ schemas: [JSONValue]) -> String? {
    let found = Set(schemas.compactMap { $0[keyword]?.compact })
    return found.count == 1 ? found.first : nil
  }

  private static func type(of value: JSONValue) -> String {
    switch value {
    case .null: "null"
    case .boolean: "boolean"
    case .number: "number"
    case .text: "string"
    case .list: "array"
    case .object: "object"
    }
  }

  /// A value of the types that the document names; its range is the server's to check.
  func value(_ given: CallWords.Value) throws(CallError) -> JSONValue {
    if given.isJSON { return try CallWords.json(given.text, for: name) }
    let plain = JSONValue(json: Array(given.text.utf8))
    switch plain {
    case .number where types.isEmpty || !types.isDisjoint(with: ["number", "integer"]): return plain!
    case .boolean where types.isEmpty || types.contains("boolean"): return plain!
    case .null where types.contains("null") && !types.contains("string"): return .null
    default: break
    }
    guard types.isEmpty || types.contains("string") else {
      let isCompound = !types.isDisjoint(with: ["array", "object"])
      let hint = isCompound ? ": give \(name):=JSON" : ""
      throw CallError("\(name): expected \(expected), got \(given.text)\(hint)")
    }
    return .text(given.text)
  }

  /// `an integer 0…15`
  private var expected: String {
    var words: [String] = []
    if types.contains("number") {
      words.append("a number")
    } else if types.contains("integer") {
      words.append("an integer")
    }
    if types.contains("boolean") { words.append("true or false") }
    if types.contains("array") { words.append("a list") }
    if types.contains("object") { words.append("an object") }
    if types.contains("string") { words.append("a text") }
    return words.joined(separator: " or ") + (range.map { " " + $0 } ?? "")
  }

  /// `0…15`
  private var range: String? {
    switch (minimum, maximum) {
    case (let minimum?, let maximum?): "\(minimum)…\(maximum)"
    case (let minimum?, nil): "from \(minimum)"
    case (nil, let maximum?): "to \(maximum)"
    case (nil, nil): nil
    }
  }

  /// What may be written behind its name: `NUMBER(-100…100 %)`, `set|extend`.
  var summary: String {
    if !choices.isEmpty { return choices.joined(separator: "|") }
    var kinds: [String] = []
    if types.contains("number") { kinds.append("NUMBER") } else if types.contains("integer") { kinds.append("INTEGER") }
    if types.contains("boolean") { kinds.append("true|false") }
    if types.contains("string") { kinds.append("TEXT") }
    if types.contains("array") { kinds.append("LIST") }
    if types.contains("object") { kinds.append("OBJECT") }
    let limits = [range, unit].compactMap(\.self).joined(separator: " ")
    return (kinds.isEmpty ? "VALUE" : kinds.joined(separator: "|")) + (limits.isEmpty ? "" : "(\(limits))")
  }

  /// `left=NUMBER(-100…100 %)`, `[zones:=LIST]`
  var usage: String {
    let needsJSON = !types.isEmpty && types.isSubset(of: ["array", "object", "null"])
    let text = name + (needsJSON ? ":=" : "=") + summary
    return isRequired ? text : "[\(text)]"
  }
}
