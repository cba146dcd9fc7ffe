@_spi(FromOutside) import Conversions
import Service
import Wire

/// A named value of a command as the OpenAPI document describes it.
struct CallParameter {
  let name: String
  private(set) var isRequired: Bool
  /// The types of JSON Schema, such as `integer` and `string`; empty if the document gives none.
  let types: Set<String>
  /// The texts that the value may be; empty if any text is allowed.
  let choices: [String]
  /// The least value and the greatest value as the document writes them, or `nil` if there is no limit, or if alternatives have different limits.
  let minimum: String?
  let maximum: String?
  let unit: String?
  /// The least and the greatest number of characters of a text, or `nil` if there is no limit, or if alternatives have different limits.
  let shortest, longest: Int?

  /// Makes a parameter from its schemas.
  ///
  /// - Parameter schemas: all schemas that apply to the value, with references resolved.
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

  /// Returns the same parameter, made required or optional.
  func required(_ isRequired: Bool) -> CallParameter {
    var parameter = self
    parameter.isRequired = isRequired
    return parameter
  }

  /// Returns a value in the type that the document describes.
  ///
  /// - Throws: an error if the document does not allow the value, because of its type, its range or its choices.
  func value(_ given: CallWords.Value) throws(CallError) -> JSONValue {
    let value = given.isJSON ? try CallWords.json(given.text, for: name) : try typed(given)
    try check(value)
    return value
  }

  /// Checks a value.
  ///
  /// - Throws: an error if the document does not allow the value.
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

  /// Returns whether the choices contain a text; `true` if there are no choices.
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

  /// The expectation in words: `an integer 0…15`.
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

  /// The limits of a text's length in words: ` of 1…64 characters`.
  private var length: String {
    switch (shortest, longest) {
    case (let least?, let most?): " of \(least)…\(most) characters"
    case (let least?, nil): " of \(least) or more characters"
    case (nil, let most?): " of at most \(most) characters"
    case (nil, nil): ""
    }
  }

  /// The range of a number: `0…15`, or `nil` if there is no limit.
  private var range: String? {
    switch (minimum, maximum) {
    case (let minimum?, let maximum?): "\(minimum)…\(maximum)"
    case (let minimum?, nil): "from \(minimum)"
    case (nil, let maximum?): "to \(maximum)"
    case (nil, nil): nil
    }
  }

  /// The notation of the value in a usage line: `NUMBER(-100…100 %)`, `set|extend`.
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

  /// The notation of the value with its name: `left=NUMBER(-100…100 %)`, `[zones:=LIST]`.
  var usage: String {
    let needsJSON = !types.isEmpty && types.isSubset(of: ["array", "object", "null"])
    let text = name + (needsJSON ? ":=" : "=") + summary
    return isRequired ? text : "[\(text)]"
  }
}
