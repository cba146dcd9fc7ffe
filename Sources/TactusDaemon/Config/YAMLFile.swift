import Glibc
import Yams

/// A YAML file as nodes with their places.
public struct YAMLFile {
  /// The path, or the name given with the text: errors begin with it.
  public let name: String
  /// `nil` if the file is empty.
  public let root: Node?
  /// What is no YAML: the sections with these errors are not among the nodes.
  let errors: [ConfigError]
  /// The names of keys that stand in their mapping again further down. Such a key begins with one of these characters instead of its own.
  private let doubled: [Unicode.Scalar: String]

  /// Reads a file from disk; throws one `ConfigErrors` when it cannot be read.
  init(path: String) throws {
    guard let text = Self.contents(of: path, atMost: YAMLLimits.bytes) else {
      let message = errno == EFBIG ? YAMLLimits.expectedBytes : "cannot be read: \(String(cString: strerror(errno)))"
      throw ConfigErrors(errors: [ConfigError(file: path, key: "", message: message)])
    }
    try self.init(text: text, name: path)
  }

  /// Parses a text. Sections that are not YAML are left out; `ConfigReader` and `FieldReader` report their errors.
  ///
  /// - Throws: `ConfigErrors` if it cannot be read without the parts that have errors, or holds more than `YAMLLimits`.
  public init(text: String, name: String) throws {
    guard text.utf8.count <= YAMLLimits.bytes else {
      throw ConfigErrors(errors: [ConfigError(file: name, key: "", message: YAMLLimits.expectedBytes)])
    }
    self.name = name
    var text = RecoverableText(text)
    var errors: [ConfigError] = []
    var found: Node?
    while true {
      do {
        // The basic resolver: types come from the table, and the default one compiles seven regular expressions.
        found = try Yams.compose(yaml: text.text, .basic)
        break
      } catch YamlError.duplicatedKeysInMapping(let names, let context) {
        guard let key = names.min(), text.mark(key, at: context.mark) else {
          throw ConfigErrors(errors: errors + [Self.doubledKey(names, context.mark, in: name)])
        }
      } catch let error as YamlError {
        let problem = YAMLProblem(error, in: text.text)
        errors.append(
          ConfigError(
            file: name, line: problem.place?.line, column: problem.place?.column, key: "", message: problem.words))
        // The other sections may have errors of their own.
        guard errors.count < 20, let line = problem.sectionLine, text.removeSection(around: line) else {
          throw ConfigErrors(errors: errors)
        }
      }
    }
    if let found, let (message, mark) = YAMLLimits.exceeded(in: found) {
      throw ConfigErrors(
        errors: errors + [ConfigError(file: name, line: mark?.line, column: mark?.column, key: "", message: message)])
    }
    root = found
    self.errors = errors
    doubled = text.doubled
  }

  private static func doubledKey(_ names: [String], _ mark: Mark, in file: String) -> ConfigError {
    ConfigError(
      file: file, line: mark.line, column: mark.column, key: names.sorted().joined(separator: ", "),
      message: "expected each key once, got it twice")
  }

  /// A key's name, and whether the same name comes again in its mapping.
  func name(of key: Node) -> (name: String, isDoubled: Bool)? {
    guard let text = key.scalar?.string else { return nil }
    guard let first = text.unicodeScalars.first, let name = doubled[first] else { return (text, false) }
    return (name, true)
  }

  /// Where in a mapping the key at `index` stands first, or `nil` if that is here.
  func earlier(_ index: Int, in mapping: Node.Mapping) -> Mark? {
    guard !doubled.isEmpty else { return nil }
    let keys = mapping.map(\.key)
    guard let name = name(of: keys[index])?.name else { return nil }
    let first = keys.prefix(index).first { key in
      self.name(of: key).map { $0.isDoubled && $0.name == name } ?? false
    }
    return first?.mark
  }

  /// Bytes of a regular file or pipe as text; nil with errno set when it cannot be read, EFBIG when there are more than `limit` (1 MB).
  public static func contents(of path: String, atMost limit: Int = 1_048_576) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = read(descriptor, &chunk, chunk.count)
      if count < 0 && errno == EINTR { continue }
      if count < 0 { return nil }
      if count == 0 { return String(decoding: bytes, as: UTF8.self) }
      bytes += chunk[..<count]
      if bytes.count > limit {
        errno = EFBIG
        return nil
      }
    }
  }
}
