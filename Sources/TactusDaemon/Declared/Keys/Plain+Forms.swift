@_spi(FromOutside) import Conversions
import Service
import Wire

// The forms of a plain value: in the file, in JSON, in a schema.

extension ConfigKind {
  /// Creates the kind of the numbers in a range.
  init(_ range: ClosedRange<some PlainNumber>) {
    switch (range.lowerBound.plain, range.upperBound.plain) {
    case (.integer(let lowest)?, .integer(let highest)?): self = .integer(lowest...highest)
    case (.number(let lowest)?, .number(let highest)?): self = .number(lowest...highest)
    default: preconditionFailure("a range's ends are finite numbers")
    }
  }
}

extension ConfigValue {
  /// The number by which limits are compared, with `true` greater than `false`; `nil` if the value is neither a number
  /// nor a boolean.
  var number: Double? {
    switch self {
    case .boolean(let value): value ? 1 : 0
    case .integer(let value): Double(value)
    case .number(let value): value
    default: nil
    }
  }

  /// The value as JSON.
  var json: JSONValue {
    switch self {
    case .boolean(let value): .boolean(value)
    case .integer(let value): .integer(value)
    case .number(let value): .decimal(value)
    case .text(let value): .text(value)
    case .integers(let values): .list(values.map { .integer($0) })
    case .texts(let values): .list(values.map { .text($0) })
    }
  }

  /// The value as text without quotation marks, for a label, a level of a topic or a log.
  var plainText: String {
    switch self {
    case .boolean(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .number(let value): "\(value)"
    case .text(let value): value
    case .integers(let values): "\(values)"
    case .texts(let values): "[\(values.joined(separator: ", "))]"
    }
  }
}

extension ConfigValue? {
  /// The value as JSON; null if it is unknown.
  var json: JSONValue { self?.json ?? .null }
  /// The value as text for people; `unknown` if it is.
  var shown: String { self?.plainText ?? "unknown" }
}

extension JSONValue {
  /// Returns the value if it is of the type of the given kind, whatever the kind's range, or `nil` if it is not.
  func plain(as kind: ConfigKind) -> ConfigValue? {
    switch (self, kind.typeName) {
    case (.boolean(let value), "boolean"): .boolean(value)
    case (.number, "integer"): wholeNumber.map { .integer($0) }
    case (.number(let digits), "number"): Double(digits).flatMap { $0.isFinite ? .number($0) : nil }
    case (.text(let text), "string"): .text(text)
    default: nil
    }
  }

  static func whole(_ number: Int) -> JSONValue { .number("\(number)") }

  /// Returns an object without the members whose value is `nil`.
  static func object(_ members: KeyValuePairs<String, JSONValue?>) -> JSONValue {
    .object(members.compactMap { name, value in value.map { Member(name: name, value: $0) } })
  }
}

// MARK: schemas

extension PlainForm {
  /// Returns the JSON Schema (2020-12) of a value with this form.
  func schema(_ meaning: String, unit: Unit) -> JSONValue {
    let schema = kind.schema(meaning, unit: unit).without(["minimum", "maximum"])
    return mayBeNothing ? schema.orNull : schema
  }
}

extension Unit {
  /// Returns a sentence followed by the unit if the unit has a sign.
  func describing(_ meaning: String) -> String { sign.isEmpty ? meaning : "\(meaning) In \(sign)." }
}

extension ConfigKind {
  /// The name of the type, as `type` in JSON Schema and in `/api/systems`.
  var typeName: String {
    switch self {
    case .boolean, .alwaysTrue: "boolean"
    case .integer: "integer"
    case .number: "number"
    case .integers, .integerList, .texts, .mappings: "array"
    case .text, .secret, .secretFile, .file, .folder, .host, .textOrNothing, .logFormat, .choice, .address, .line,
      .pwmOutput, .sensor, .cpus:
      "string"
    }
  }

  /// The allowed words, or `nil` if the kind is not a choice of words.
  var choices: [String]? {
    if case .choice(let words) = self { words } else { nil }
  }

  /// The least and the greatest number, or `nil` if the kind is not a number.
  var bounds: (lowest: JSONValue, highest: JSONValue)? {
    switch self {
    case .integer(let range): (.whole(range.lowerBound), .whole(range.upperBound))
    case .number(let range): (.decimal(range.lowerBound), .decimal(range.upperBound))
    default: nil
    }
  }

  /// The reader for values of this kind in JSON.
  var json: JSONKind<ConfigValue> {
    JSONKind("\(self)") { value in
      switch (value, self.typeName) {
      case (.boolean(let value), "boolean"): .boolean(value)
      case (.number, "integer"): value.wholeNumber.flatMap { ScalarReader.value("\($0)", as: self) }
      case (.number(let digits), "number"): ScalarReader.value(digits, as: self)
      case (.text(let text), "string"): ScalarReader.value(text, as: self)
      default: nil
      }
    }
  }

  /// An allowed value as JSON, for examples.
  var example: String {
    switch self {
    case .integer(let range): "\(range.lowerBound + (range.upperBound - range.lowerBound) / 2)"
    case .number(let range): JSONValue.decimal(((range.lowerBound + range.upperBound) / 2).rounded()).compact
    case .boolean, .alwaysTrue: "true"
    case .choice(let words): "\"\(words.first ?? "")\""
    default: "\"…\""
    }
  }

  /// Returns the JSON Schema (2020-12) of a command's parameter.
  func schema(_ meaning: String, unit: Unit) -> JSONValue {
    .object([
      "type": .text(typeName), "enum": choices.map { .list($0.map { .text($0) }) }, "minimum": bounds?.lowest,
      "maximum": bounds?.highest, "description": .text(unit.describing(meaning)),
      "x-unit": unit.sign.isEmpty ? nil : .text(unit.sign),
    ])
  }
}
