@_spi(FromOutside) import Conversions
import Service
import Wire

// The forms of a plain value: in the file, in JSON, in a schema.

extension ConfigKind {
  init(_ form: PlainForm) {
    switch form.kind {
    case .boolean: self = .boolean
    case .text: self = .text
    case .words(let words): self = .choice(words)
    case .line: self = .line
    case .pwmOutput: self = .pwmOutput
    case .sensor: self = .sensor
    case .integer, .number: preconditionFailure("a number has a range")
    }
  }

  init(_ form: PlainForm, from lowest: some PlainNumber, to highest: some PlainNumber) {
    switch (lowest.plain, highest.plain) {
    case (.integer(let lowest), .integer(let highest)): self = .integer(lowest...highest)
    case (.number(let lowest), .number(let highest)): self = .number(lowest...highest)
    default: preconditionFailure("a range's ends are finite numbers")
    }
  }
}

extension ConfigValue {
  /// Creates a configuration value, or returns `nil` if the plain value is `nothing`.
  init?(_ plain: PlainValue) {
    switch plain {
    case .nothing: return nil
    case .boolean(let value): self = .boolean(value)
    case .integer(let value): self = .integer(value)
    case .number(let value): self = .number(value)
    case .text(let value): self = .text(value)
    }
  }

  var plain: PlainValue {
    switch self {
    case .boolean(let value): .boolean(value)
    case .integer(let value): .integer(value)
    case .number(let value): .number(value)
    case .text(let value): .text(value)
    case .integers, .texts: preconditionFailure("a list is no plain value")
    }
  }

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
}

extension PlainValue {
  var json: JSONValue {
    switch self {
    case .nothing: .null
    case .boolean(let value): .boolean(value)
    case .integer(let value): .number("\(value)")
    case .number(let value): .number(Int64(exactly: value).map { "\($0)" } ?? "\(value)")
    case .text(let value): .text(value)
    }
  }
}

extension JSONValue {
  /// Returns the value in the given form, or `nil` if the value is of another kind.
  func plain(as form: PlainForm) -> PlainValue? {
    switch (self, form.kind) {
    case (.null, _): form.mayBeNothing ? .nothing : nil
    case (.boolean(let value), .boolean): .boolean(value)
    case (.number, .integer): wholeNumber.map { .integer($0) }
    case (.number(let digits), .number): Double(digits).flatMap { $0.isFinite ? .number($0) : nil }
    case (.text(let text), .text), (.text(let text), .words), (.text(let text), .line), (.text(let text), .pwmOutput),
      (.text(let text), .sensor):
      .text(text)
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
  /// The name of the type, as `type` in JSON Schema and in `/api/systems`.
  var typeName: String {
    switch kind {
    case .boolean: "boolean"
    case .integer: "integer"
    case .number: "number"
    case .text, .words, .line, .pwmOutput, .sensor: "string"
    }
  }

  /// The allowed words, or `nil` if the form is not a choice of words.
  var choices: [String]? {
    if case .words(let words) = kind { words } else { nil }
  }

  /// Returns the JSON Schema (2020-12) of a value with this form.
  func schema(_ meaning: String, unit: Unit) -> JSONValue {
    .object([
      "type": mayBeNothing ? .list([.text(typeName), .text("null")]) : .text(typeName),
      "enum": choices.map { .list($0.map { .text($0) } + (mayBeNothing ? [.null] : [])) },
      "description": .text(unit.describing(meaning)),
      "x-unit": unit.sign.isEmpty ? nil : .text(unit.sign),
    ])
  }
}

extension Unit {
  /// Returns a sentence followed by the unit if the unit has a sign.
  func describing(_ meaning: String) -> String { sign.isEmpty ? meaning : "\(meaning) In \(sign)." }
}

extension ConfigKind {
  var typeName: String {
    switch self {
    case .boolean, .alwaysTrue: "boolean"
    case .integer: "integer"
    case .number: "number"
    case .integers, .integerList, .texts, .mappings: "array"
    case .text, .textOrNothing, .logFormat, .choice, .address, .line, .pwmOutput, .sensor, .cpus: "string"
    }
  }

  var choices: [String]? {
    if case .choice(let words) = self { words } else { nil }
  }

  var bounds: (lowest: JSONValue, highest: JSONValue)? {
    switch self {
    case .integer(let range): (.whole(range.lowerBound), .whole(range.upperBound))
    case .number(let range): (PlainValue.number(range.lowerBound).json, PlainValue.number(range.upperBound).json)
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
    case .number(let range):
      String(
        decoding: PlainValue.number(((range.lowerBound + range.upperBound) / 2).rounded()).json.bytes, as: UTF8.self)
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
