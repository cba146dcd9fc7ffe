import Service
import Wire

/// The JSON Schema (2020-12) of the configuration file, `config/tactus.schema.json`, with which editors complete and check a file.
///
/// The schema accepts the sections, keys and values that the reader accepts, as YAML 1.2 types them. Only the reader
/// checks the range of a number that is a text to YAML (`"99"`, `1_000`, `0b11`), a number in a notation that YAML
/// accepts and the kind does not (`5.0` instead of 5), CPUs in the wrong order (`3-1`), values of environment
/// variables, and rules over more than one key. The schema refuses a GPIO line whose name is a truth value or a
/// fraction unless the name is quoted.
enum ConfigSchema {
  /// The text of the schema, ending with a line break.
  static var text: String { document.indented + "\n" }

  static var document: JSONValue {
    let program = DaemonProgram.current.name
    return [
      "$schema": "https://json-schema.org/draft/2020-12/schema",
      "title": .text("Configuration of \(program)"),
      "description": .text(
        "A part of the program runs when its section is present. ${NAME} in a value is replaced by the environment variable "
          + "NAME. `\(program) check FILE` also checks the rules over more than one key."),
      "type": ["object", "null"],
      "properties": .object(ConfigTable.sections.map { member($0.name, path: $0.name, doc: $0.doc) }),
      "additionalProperties": false,
      "$defs": ConfigSchemaKinds.definitions,
    ]
  }

  /// Returns the schema of a section, a part of a section, a list of mappings or a key.
  private static func member(_ name: String, path: String, doc: String? = nil) -> JSONValue.Member {
    if let key = ConfigTable.key(path) { return JSONValue.Member(name: name, value: value(of: key)) }
    let description: JSONValue = (doc ?? ConfigTable.listMeanings[path]).map { ["description": .text($0)] } ?? [:]
    var content = mapping(path)
    if let most = ConfigTable.lists[path] {
      content = ["type": "array", "minItems": 1, "maxItems": .integer(most), "items": mapping(path + "[]")]
    }
    return JSONValue.Member(name: name, value: description.adding(content))
  }

  /// Returns the schema of a mapping. An empty value counts as a mapping without keys.
  private static func mapping(_ path: String) -> JSONValue {
    let names = ConfigTable.names(below: path)
    let required = names.filter { ConfigTable.key("\(path).\($0)")?.isRequired == true }
    let content: JSONValue = [
      "type": required.isEmpty ? ["object", "null"] : "object",
      "properties": .object(names.map { member($0, path: "\(path).\($0)") }),
      "additionalProperties": false,
    ]
    return required.isEmpty ? content : content.adding(["required": .list(required.map(JSONValue.text))])
  }

  private static func value(of key: ConfigKey) -> JSONValue {
    let description: JSONValue = ["description": .text("\(key.doc) (\(key.kind))")]
    let standard: JSONValue = key.standard.map { ["default": $0.json(of: key.kind)] } ?? [:]
    return description.adding(standard).adding(ConfigSchemaKinds.constraints(of: key.kind))
  }
}

extension ConfigValue {
  /// Returns the value as YAML 1.2 types it.
  fileprivate func json(of kind: ConfigKind) -> JSONValue {
    if case .text(let word) = self, case .choice = kind { ConfigSchemaKinds.typed(word) } else { json }
  }
}
