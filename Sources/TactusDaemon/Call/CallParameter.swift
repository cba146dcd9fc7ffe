import Service
import Wire

/// A named value of a command, as the OpenAPI document describes it.
struct CallParameter {
  let name: String
  private(set) var isRequired: Bool
  /// JSON Schema's: `integer`, `string`; empty if the document says none.
  let types: Set<String>
  /// Texts that it may be; empty: any.
  let choices: [String]
  /// As the document writes them, or `nil` if there is none, or if alternatives have different ones.
  let minimum: String?
  let maximum: String?
  let unit: String?
  /// Least and most characters of a text, or `nil` if there is no limit, or if alternatives have different ones.
  let shortest, longest: Int?

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
    shortest = Self.common("minLength", schemas).flatMap { Int($0) }
    longest = Self.common("maxLength", schemas).flatMap { Int($0) }
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

  /// The same, required or not.
  func required(_ isRequired: Bool) -> CallParameter {
    var parameter = self
    parameter.isRequired = isRequired
    return parameter
  }

  /// A value as the document describes it.
  ///
  /// - Throws: what is wrong with it by the document: its type, its range, a word that is none of the choices.
  func value(_ given: CallWords.Value) throws(CallError) -> JSONValue {
    let value = given.isJSON ? try CallWords.json(given.text, for: name) : try typed(given)
    try check(value)
    return value
  }

  /// Throws if the document does not allow this value.
  func check(_ value: JSONValue) throws(CallError) {
    let isAllowed: Bool
    switch value {
    case .number(let digits):
      let number = Double(digits) ?? .nan
      let isWhole = number == number.rounded()
      isAllowed =
        isOneOf("number", isWhole ? "integer" : "number")
        && (minimum.flatMap { Double($0) }.map { $0 <= number } ?? true)
        && (maximum.flatMap { Double($0) }.map { number <= $0 } ?? true)
    case .text(let text):
      isAllowed =
        isOneOf("string") && allows(text) && (shortest.map { $0 <= text.count } ?? true)
        && (longest.map { text.count <= $0 } ?? true)
    case .boolean: isAllowed = isOneOf("boolean")
    case .null: isAllowed = isOneOf("null")
    case .list: isAllowed = isOneOf("array")
    case .object: isAllowed = isOneOf("object")
    }
    guard !isAllowed else { return }
    let near = value.string.flatMap { nearestName(to: $0, among: choices) }.map { " (\($0)?)" } ?? ""
    throw CallError("\(name): expected \(expected)\(near), got \(value.string ?? value.summary)")
  }

  private func isOneOf(_ names: String...) -> Bool { types.isEmpty || !types.isDisjoint(with: names) }

  /// Whether a text is one of the choices, if there are any.
  func allows(_ text: String) -> Bool { choices.isEmpty || choices.contains(text) || isOneOf("number", "integer") }

  private func typed(_ given: CallWords.Value) throws(CallError) -> JSONValue {
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
    if !choices.isEmpty { return choices.count == 1 ? choices[0] : "one of " + choices.joined(separator: ", ") }
    var words: [String] = []
    if types.contains("number") {
      words.append("a number")
    } else if types.contains("integer") {
      words.append("an integer")
    }
    if types.contains("boolean") { words.append("true or false") }
    if types.contains("array") { words.append("a list") }
    if types.contains("object") { words.append("an object") }
    if types.contains("string") { words.append("a text" + length) }
    return words.joined(separator: " or ") + (range.map { " " + $0 } ?? "")
  }

  /// ` of 1…64 characters`
  private var length: String {
    switch (shortest, longest) {
    case (let least?, let most?): " of \(least)…\(most) characters"
    case (let least?, nil): " of \(least) or more characters"
    case (nil, let most?): " of at most \(most) characters"
    case (nil, nil): ""
    }
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
