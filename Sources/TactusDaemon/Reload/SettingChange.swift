import Service
import Wire

/// One value that `PUT /api/settings` puts in the place of the file's, until the next reload or start.
///
/// The value is a number, a boolean or a word of a choice. Texts are not accepted, because they may name programs, files and addresses, which only a
/// person who can write the file may do: no token, not even an admin's, gives access to files of the daemon's account.
struct SettingChange: JSONReadable {
  let key: String
  /// The value as it would be written in the file.
  let value: String
  /// Whether only the answer is asked for, and nothing changes.
  let isPreview: Bool

  init(_ body: inout JSONReader) throws(APIError) {
    key = try body.required("key", .text(1...200))
    value = try body.required("value", Self.kind)
    isPreview = try body.optional("preview", .boolean) ?? false
  }

  /// The kind of a value: a text as it would be written in the file, or a number or a boolean of JSON, which the file would
  /// have in the same characters.
  private static var kind: JSONKind<String> {
    let text = JSONKind<String>.text(0...1000)
    return JSONKind("\(text.expected), a number, or true or false") { value in
      let written: String
      switch value {
      case .text(let text): written = text
      case .number(let digits): written = digits
      case .boolean(let isSo): written = isSo ? "true" : "false"
      case .null, .list, .object: return nil
      }
      return GivenName.excess(of: written, 0...1000) == nil ? written : nil
    }
  }

  /// Checks that a reload may change the key, and that its value is no free text.
  ///
  /// - Throws: 422 `VALIDATION` for any other key, with the nearest one that may change.
  func requireChangeable(among keys: [String]) throws(APIError) {
    let known = ConfigTable.key(key)
    if keys.contains(key), let known {
      guard !known.kind.isBounded else { return }
      throw .validation(
        "key", expected: "a key whose value is a number, true or false, or one of some words",
        got: "'\(key)', \(known.kind), which is changed in the file")
    }
    if let known, known.mayChange {
      throw .validation(
        "key", expected: "a key that the file has, or of a section that it has",
        got: "'\(key)', which it has not")
    }
    let exists = known != nil
    let nearest = exists ? nil : nearestName(to: key, among: keys)
    throw .validation(
      "key",
      expected: nearest.map { "a key of GET /api/settings, such as \($0)" } ?? "a key of GET /api/settings",
      got: exists ? "'\(key)', which only a start changes" : "'\(key)'")
  }
}

extension ConfigKind {
  /// Whether the possible values are those of a range or a short list of words.
  fileprivate var isBounded: Bool {
    switch self {
    case .integer, .number, .boolean, .choice, .alwaysTrue: true
    case .text, .secret, .secretFile, .file, .folder, .host, .textOrNothing, .logFormat, .address, .line, .pwmOutput,
      .sensor, .cpus, .integers, .integerList, .texts, .mappings:
      false
    }
  }
}

extension TakenFile {
  /// Returns the file on the disk with the values of some keys replaced, checked as a whole.
  static func read(
    _ path: String, setting values: [String: String], environment: [String: String]
  ) throws(ConfigErrors) -> TakenFile {
    guard var text = YAMLFile.contents(of: path, atMost: YAMLLimits.bytes) else {
      // Reading the file alone throws the reason.
      return try read(path, environment: environment)
    }
    for (key, value) in values.sorted(by: { $0.key < $1.key }) {
      do throws(ConfigEdit.Refusal) {
        text = try ConfigEdit.setting(key, to: value, in: text)
      } catch {
        throw ConfigErrors(errors: [
          ConfigError(file: path, line: error.line, key: error.key, message: error.message)
        ])
      }
    }
    let file: YAMLFile
    do { file = try YAMLFile(text: text, name: path) } catch {
      throw error as? ConfigErrors
        ?? ConfigErrors(errors: [ConfigError(file: path, key: "", message: "expected YAML, got \(error)")])
    }
    let (configuration, found) = try Configuration.readWhole(file, environment: environment)
    return TakenFile(configuration: configuration, found: found)
  }

  /// Returns the differences of a newer file in the values of keys. A value from the environment is not shown.
  func changes(in new: TakenFile) -> [KeyChange] {
    func visible(_ file: TakenFile, _ key: String) -> ConfigValue? {
      file.found.hidden.contains(key) ? .text(file.shown(key)) : file.value(key)
    }
    return changedKeys(in: new).map { KeyChange($0, from: visible(self, $0), to: visible(new, $0)) }
  }
}
