import Glibc
public import Service
import Yams

/// A YAML file, parsed into nodes with their places.
public struct YAMLFile {
  /// The path of the file, or the name given with the text, with which errors begin.
  public let name: String
  /// The root node, or `nil` if the file is empty.
  public let root: Node?
  /// The errors of sections that are not YAML and therefore not among the nodes.
  let errors: [ConfigError]
  /// The names of keys that are repeated further down in their mapping. Such a key begins with one of these characters
  /// instead of its own first character.
  private let doubled: [Unicode.Scalar: String]

  /// Reads a file from the disk, or from a pipe that is waited for if `pipes` is true. Throws one `ConfigErrors` if it cannot be read.
  init(path: String, waitingForPipes pipes: Bool = false) throws {
    let text: String
    do throws(FileFailure) {
      text = try Self.read(path, atMost: YAMLLimits.bytes, waitingForPipes: pipes)
    } catch {
      let message = error.isTooLong ? YAMLLimits.expectedBytes : "cannot be read: \(error.reason)"
      throw ConfigErrors(errors: [ConfigError(file: path, key: "", message: message)])
    }
    try self.init(text: text, name: path)
  }

  /// Parses a text. Sections that are not YAML are left out; `ConfigReader` and `FieldReader` report their errors.
  ///
  /// - Throws: `ConfigErrors` if the text cannot be read even without the parts that have errors, or if it exceeds `YAMLLimits`.
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

  /// Returns a key's name, and whether the name is repeated further down in its mapping. Returns `nil` if the key is not a scalar.
  func name(of key: Node) -> (name: String, isDoubled: Bool)? {
    guard let text = key.scalar?.string else { return nil }
    guard let first = text.unicodeScalars.first, let name = doubled[first] else { return (text, false) }
    return (name, true)
  }

  /// Returns the first place of the key at `index` in its mapping, or `nil` if this occurrence is the first.
  func earlier(_ index: Int, in mapping: Node.Mapping) -> Mark? {
    guard !doubled.isEmpty else { return nil }
    let keys = mapping.map(\.key)
    guard let name = name(of: keys[index])?.name else { return nil }
    let first = keys.prefix(index).first { key in
      self.name(of: key).map { $0.isDoubled && $0.name == name } ?? false
    }
    return first?.mark
  }

  /// Returns the bytes of a regular file as text.
  ///
  /// - Parameters:
  ///   - limit: the most bytes that are read (1 MiB).
  ///   - pipes: whether a pipe is taken, too, and read until it ends: for a command that a person has typed, never in a daemon.
  /// - Throws: the reason why the file cannot be read, without waiting; a named pipe counts as a file only if `pipes` is true.
  public static func read(
    _ path: String, atMost limit: Int = 1_048_576, waitingForPipes pipes: Bool = false
  ) throws(FileFailure) -> String {
    guard let bytes = try readWhole(path, most: limit, waitingForPipes: pipes) else {
      throw FileFailure(path: path, reason: String(cString: strerror(ENOENT)))
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns the bytes of a regular file as text, or `nil` if it cannot be read or has more than `limit` bytes (1 MiB).
  public static func contents(of path: String, atMost limit: Int = 1_048_576) -> String? {
    try? read(path, atMost: limit)
  }
}
