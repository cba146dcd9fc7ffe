import DaemonSupport
import Foundation
import Service
import Testing
import Wire

@testable import TactusDaemon

@Suite("schema of the configuration file")
struct ConfigSchemaTests {
  private let schema = JSONSchemaChecker(root: ConfigSchema.document)

  /// `tactus schema > config/tactus.schema.json` rewrites it.
  @Test("config/tactus.schema.json: what the table says, word for word")
  func fileIsCurrent() throws {
    let file = try String(contentsOf: repository.appending(path: "config/tactus.schema.json"), encoding: .utf8)
    #expect(file == ConfigSchema.text, "run: tactus schema > config/tactus.schema.json")
    #expect(JSONValue(json: Array(file.utf8)) == ConfigSchema.document)
  }

  @Test("every section and key: with its description; every default is accepted, and is that of the table")
  func describesEveryKey() throws {
    for section in ConfigTable.sections {
      #expect(ConfigSchema.document["properties"]?[section.name]?["description"]?.string == section.doc)
    }
    for key in ConfigTable.keys {
      let found = try #require(Self.schema(of: key.path), "\(key.path)")
      #expect(found["description"]?.string == "\(key.doc) (\(key.kind))")
      #expect((found["default"] == nil) == (key.standard == nil), "\(key.path)")
      if let standard = found["default"] {
        #expect(try schema.accepts(Self.file(key.path, standard)), "\(key.path): \(standard.compact)")
      }
    }
  }

  private static func schema(of path: String) -> JSONValue? {
    path.split(separator: ".").reduce(ConfigSchema.document) { schema, name in
      let found = schema?["properties"]?[name.hasSuffix("[]") ? String(name.dropLast(2)) : String(name)]
      return name.hasSuffix("[]") ? found?["items"] : found
    }
  }

  /// A file that gives one key.
  private static func file(_ path: String, _ value: JSONValue) -> JSONValue {
    path.split(separator: ".").reversed().reduce(value) { value, name in
      let isList = name.hasSuffix("[]")
      return .object([
        JSONValue.Member(name: isList ? String(name.dropLast(2)) : String(name), value: isList ? .list([value]) : value)
      ])
    }
  }

  /// The same as YAML, in one line.
  private static func file(_ path: String, yaml value: String) -> String {
    path.split(separator: ".").reversed().reduce(value) { value, name in
      name.hasSuffix("[]") ? "{ \(name.dropLast(2)): [\(value)] }" : "{ \(name): \(value) }"
    }
  }

  /// One key of each kind there is.
  private static let kinds: [ConfigKey] = ConfigTable.keys.enumerated().compactMap { index, key in
    ConfigTable.keys.prefix(index).contains { $0.kind == key.kind } ? nil : key
  }

  /// Values as they stand in a file.
  private static let values = [
    "~", "null", "''", "true", "True", "tRue", "yes", "ON", "off", "'no'", "false", "nope", "{ }", "[]", "[1, 2]",
    "{ a: 1 }",
    "0", "1", "3", "5", "007", "-1", "+20", "50", "53", "54", "64", "200", "640", "1023", "1024", "8000", "65535",
    "65536", "4000000",
    "99999999", "0x16", "0X16", "0o17", "0b101", "-0x1", "1_000", "'50'", "'0x20'", "1__0", "_1", "1_", "0x", "+",
    "0.5", ".5", "5.", "-0.5", "1e1", "1E+1", "99.9", "100.1", "'0.5'", "1e", "1e999", ".inf", ".nan", "1.2.3", "1.5e",
    "sim", "SIM", "Sim", "simm", "pca9685", "PCA9685", "tokens", "Info", "DEBUG", "fifo", "none", "self-signed",
    "hello world", "x y",
    "127.0.0.1", "0.0.0.0", "256.0.0.1", "1.2.3", "01.2.3.4", "'::1'", "'::'", "'fe80::1'", "'1:2:3:4:5:6:7:8'",
    "'1:2:3:4:5:6:7::'",
    "'1:2:3:4:5:6:7:8::'", "'::ffff:1.2.3.4'", "'1::2::3'", "'1:2:3:4:5:6:1.2.3.4'", "'12345::'", "'fe80::1%eth0'",
    "localhost",
    "GPIO17", "GPIO 17", "'gpiochip0:17'", "'gpiochip0:1024'", "'/dev/gpiochip0:3'", "':17'", "'a,b'", "+x", "-x",
    "abcdefghijklmnopqrstuvwxyz12345", "abcdefghijklmnopqrstuvwxyz123456", "0-1,3", "0-1,", "0-1023", "0-1024", "3-1",
    "1-", "'3'", "'1,1'",
    "[640, 480]", "[640, 480, 1]", "[640, '480']", "[16, 16]", "[640, 0x1E0]", "[5]", "[5, 6]", "[1024]", "[-1]", "[~]",
    "[x]", "['']",
    "[[1]]", "[https://a.example]", "[a, 5, true]",
    "A$B", "'$'", "'$$'", "'a$${b'", "'${'", "'${}'", "'${A B}'", "'${A'", "'$$${'", "'a${b-c}d'", "'[${'", "[ '${' ]",
    "é", "GPIOé",
  ]

  @Test(
    "a value of each kind: accepted by the schema if and only if the reader accepts it", arguments: kinds.map(\.path))
  func asTheReader(path: String) throws {
    for value in Self.values {
      let text = Self.file(path, yaml: value)
      let file = try YAMLFile(text: text, name: "a.yaml")
      let isRead = ConfigReader.examine(file, environment: [:]).1.isEmpty
      let isAccepted = try schema.accepts(YAMLCoreValue.read(text))
      #expect(isAccepted == isRead || Self.isLeftToTheReader(value, ConfigTable.byPath[path]?.kind), "\(text)")
    }
  }

  /// Where the schema differs, as it says.
  private static func isLeftToTheReader(_ value: String, _ kind: ConfigKind?) -> Bool {
    switch kind {
    case .integer, .number:
      ["0b101", "-0x1", "1_000", "1__0", "'50'", "'0x20'", "0X16", "'3'", "'0.5'", "5.", "1e1", "1E+1"].contains(value)
    case .cpus: ["3-1", "+20", "0x16", "0o17", "5.", "1e1", "1E+1"].contains(value)
    case .line: ["+20", "true", "True", "false", "0.5", ".5", "99.9", "100.1", "1e999"].contains(value)
    case .choice: value == "007"
    default: false
    }
  }

  @Test("a reference to the environment: in every scalar and item of a list", arguments: kinds)
  func references(key: ConfigKey) throws {
    let values =
      switch key.kind {
      case .integers(let count, _): [Array(repeating: "'${A}'", count: count).joined(separator: ", ")].map { "[\($0)]" }
      case .integerList, .texts: ["['${A}']", "['a${B_2}c']"]
      default: ["'${A}'", "'a${B_2}c'", "'$${ ${A}'", "'$$${x ${A}'"]
      }
    for value in values {
      #expect(try schema.accepts(YAMLCoreValue.read(Self.file(key.path, yaml: value))), "\(key.path): \(value)")
    }
  }

  @Test(
    "structure: sections without content, lists, unknown names: as the reader",
    arguments: [
      "", "~", "motors:", "motors: ~", "motors: []", "motors: 5", "motor: { }", "motors: { backnd: sim }", "legs: []",
      "legs: ~",
      "legs: [~, { }]", "legs: [5]", "legs: { }",
      "legs: [\(Array(repeating: "{ }", count: 17).joined(separator: ","))]",
      "legs: [\(Array(repeating: "{ }", count: 16).joined(separator: ","))]", "leg: { battery: }",
      "leg: { battery: { x: 1 } }",
      "sprinkler: { zones: [{ pin: 12 }, { pni: 3 }] }", "sprinkler: { state_dir: /x }",
      "sprinkler: { zones: [{ pin: 12 }] }",
      "- 1", "text",
    ])
  func structure(text: String) throws {
    let isRead = ConfigReader.examine(try YAMLFile(text: text, name: "a.yaml"), environment: [:]).1.isEmpty
    #expect(try schema.accepts(YAMLCoreValue.read(text)) == isRead)
  }

  @Test(
    "the files in config/: accepted, and each names the schema that an editor finds it by",
    arguments: [
      "leg.yaml", "plants.yaml", "pump-device.yaml", "pump.yaml", "reference.yaml", "rider-pi.yaml", "simulated.yaml",
      "sprinkler.yaml", "sprinkler-64-zones.yaml",
      "tactus.yaml",
    ])
  func shipped(name: String) throws {
    let text = try String(contentsOf: repository.appending(path: "config/\(name)"), encoding: .utf8)
    #expect(try schema.accepts(YAMLCoreValue.read(text)))
    // The package puts that one elsewhere.
    let folder = name == "tactus.yaml" ? "/usr/share/doc/tactus/examples/" : ""
    #expect(text.hasPrefix("# yaml-language-server: $schema=\(folder)tactus.schema.json\n"))
  }
}
