@_spi(FromOutside) import Conversions
import Service
import Wire

/// The constraints of each kind of value in the schema of the configuration file.
///
/// YAML gives the reader text and an editor typed values. A value that YAML takes for text, although the reader takes
/// it for a number or a truth value, has a pattern. Patterns use only the syntax that ECMAScript, Python and ICU have
/// in common.
enum ConfigSchemaKinds {
  /// The definitions that several keys share, for `$defs`.
  static let definitions: JSONValue = [
    "integer": ["type": ["integer", "string"], "pattern": pattern(integer, reference)],
    "number": ["type": ["number", "string"], "pattern": pattern(integer, decimal, reference)],
    "boolean": [
      "type": ["boolean", "string"],
      "pattern": pattern(anyCase(["true", "yes", "on", "false", "no", "off"]), reference),
    ],
    "alwaysTrue": [
      "anyOf": [["const": true], ["type": "string", "pattern": pattern(anyCase(["true", "yes", "on"]), reference)]]
    ],
    "text": ["type": ["string", "number", "boolean"], "minLength": 1, "pattern": pattern(wellFormed)],
    "address": ["type": "string", "pattern": pattern(address4, address6, reference)],
    "line": [
      "type": ["string", "integer"], "minimum": 0, "maximum": 53, "pattern": pattern(line, reference),
    ],
    "cpus": [
      "type": ["string", "integer"], "minimum": 0, "maximum": 1023,
      "pattern": pattern("\(cpus)(?:,\(cpus))*", reference),
    ],
  ]

  /// Returns the members of a key's schema other than its description.
  static func constraints(of kind: ConfigKind) -> JSONValue {
    switch kind {
    case .integer(let range): integers(in: range)
    case .number(let range):
      [
        "$ref": "#/$defs/number", "minimum": .decimal(range.lowerBound), "maximum": .decimal(range.upperBound),
      ]
    case .boolean: ["$ref": "#/$defs/boolean"]
    case .alwaysTrue: ["$ref": "#/$defs/alwaysTrue"]
    case .text, .secret, .secretFile, .file, .folder: ["$ref": "#/$defs/text"]
    case .textOrNothing: ["anyOf": [["$ref": "#/$defs/text"], ["type": "null"]]]
    case .logFormat: ["type": "string", "pattern": pattern(logFormat, reference)]
    // Editors offer the first alternative.
    case .choice(let choices):
      [
        "anyOf": [
          ["enum": .list(choices.map(typed))], ["type": "string", "pattern": pattern(anyCase(choices), reference)],
        ]
      ]
    case .address: ["$ref": "#/$defs/address"]
    case .host: ["type": ["string", "number"], "pattern": pattern(host, reference)]
    case .line: ["$ref": "#/$defs/line"]
    case .pwmOutput: ["type": "string", "pattern": pattern(pwmOutput, reference)]
    case .sensor: ["type": "string", "pattern": pattern(sensor, reference)]
    case .cpus: ["$ref": "#/$defs/cpus"]
    case .integers(let count, let range):
      ["type": "array", "minItems": .integer(count), "maxItems": .integer(count), "items": integers(in: range)]
    case .integerList(let range, let most):
      ["type": "array", "maxItems": .integer(most), "uniqueItems": true, "items": integers(in: range)]
    case .texts: ["type": "array", "items": ["$ref": "#/$defs/text"]]
    case .mappings: preconditionFailure("a list of mappings is no entry of the table")
    }
  }

  /// Returns a word of a choice as YAML types it: `5` is a number.
  static func typed(_ word: String) -> JSONValue { Int(word).map(JSONValue.integer) ?? .text(word) }

  private static func integers(in range: ClosedRange<Int>) -> JSONValue {
    ["$ref": "#/$defs/integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound)]
  }
}

// MARK: patterns

extension ConfigSchemaKinds {
  /// Returns a pattern that matches a text if the whole text is one of the alternatives.
  private static func pattern(_ alternatives: String...) -> JSONValue {
    .text("^(?:\(alternatives.joined(separator: "|")))$")
  }

  /// Returns a regular expression for these words in any case.
  private static func anyCase(_ words: [String]) -> String {
    words.map { word in
      word.map { letter in
        let (lower, upper) = (letter.lowercased(), letter.uppercased())
        return lower == upper ? lower : "[\(upper)\(lower)]"
      }.joined()
    }.joined(separator: "|")
  }

  /// A text in which every `${` begins a reference or is escaped as `$${`; see `EnvironmentReferences`.
  private static let wellFormed = #"(?:[^$]|\$(?!\$?\{)|\$\$\{|\$\{[A-Za-z0-9_]+\})*"#
  /// A well-formed text with at least one reference, whose value is not known to the schema.
  private static let reference = #"(?=(?:[\s\S]*[^$])?\$\{[A-Za-z0-9_]+\})"# + wellFormed

  /// An integer as `ScalarReader.integer` reads it.
  private static let integer =
    "[+-]?(?:"
    + [("0[xX]", "0-9A-Fa-f"), ("0[oO]", "0-7"), ("0[bB]", "01"), ("", "0-9")]
    .map { "\($0)[\($1)](?:[\($1)_]*[\($1)])?" }.joined(separator: "|") + ")"
  private static let decimal = #"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"#

  private static let host = "[A-Za-z0-9._:-]{1,253}"
  private static let below1024 = "0*(?:[0-9]{1,3}|10[01][0-9]|102[0-3])"
  private static let cpus = "\(below1024)(?:-\(below1024))?"
  /// A GPIO line as `GPIOLineName` reads it: CHIP:OFFSET, a number or a name.
  private static let line =
    "(?=\(wellFormed)$)(?:"
    + [
      "[!-+\\x2D-~]{1,255}:\(below1024)", "0*(?:[0-9]|[1-4][0-9]|5[0-3])",
      "(?![+-])(?![0-9]+$)[!-+\\x2D-9;-~]{1,31}",
    ].joined(separator: "|") + ")"

  /// A PWM output as `PWMOutputName` reads it.
  private static let pwmOutput =
    "(?=\(wellFormed)$)/[\\s\\S]*/pwm\\+?0*(?:25[0-5]|2[0-4][0-9]|1?[0-9]{1,2})"

  /// A sensor of the kernel as `KernelSensorName` reads it, but for the lengths of its parts.
  private static let sensor =
    "(?=\(wellFormed)$)(?:(?:iio|hwmon):[!-.0-~][ -.0-~]*/[!-.0-~][ -.0-~]*|w1:[0-9a-f]{2}-[0-9a-f]{12})"

  /// A pattern of log lines as `LogPattern` reads it.
  private static let logFormat = {
    func names(isNumber: Bool) -> String {
      LogPattern.Field.allCases.filter { $0.isNumber == isNumber }.map(\.rawValue).joined(separator: "|")
    }
    let layout = "-?0?[0-9]{0,3}(?:\\.[0-9]{0,2})?"
    let field = "%\\((?:(?:\(names(isNumber: false)))\\)\(layout)s|(?:\(names(isNumber: true)))\\)\(layout)[sdf])"
    return "(?=\(wellFormed)$)(?:[^%\\r\\n]|%%|\(field))*\(field)(?:[^%\\r\\n]|%%|\(field))*"
  }()

  private static let address4 = {
    let byte = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
    return "(?:\(byte)\\.){3}\(byte)"
  }()
  /// An IPv6 address (RFC 4291): eight groups, of which the last two may be an IPv4 address, and `::` may replace one or more groups.
  private static let address6 = {
    let group = "[0-9A-Fa-f]{1,4}"
    var forms = ["(?:\(group):){7}\(group)", "(?:\(group):){6}\(address4)", "(?:\(group):){7}:"]
    for left in 0...6 {
      let start = left == 0 ? "::" : "(?:\(group):){\(left)}:"
      forms.append("\(start)(?:\(group)(?::\(group)){0,\(6 - left)})?")
      if left <= 5 { forms.append("\(start)(?:\(group):){0,\(5 - left)}\(address4)") }
    }
    return forms.joined(separator: "|")
  }()
}
