import Glibc
import Yams

/// A YAML file as nodes with their places.
struct YAMLFile {
  let name: String
  /// nil: an empty file.
  let root: Node?

  /// Reads a file from disk; throws one `ConfigErrors` when it cannot be read or is not YAML.
  init(path: String) throws {
    guard let text = Self.contents(of: path) else {
      let reason = String(cString: strerror(errno))
      throw ConfigErrors(errors: [ConfigError(file: path, key: "", message: "cannot be read: \(reason)")])
    }
    try self.init(text: text, name: path)
  }

  init(text: String, name: String) throws {
    self.name = name
    do {
      // The basic resolver: types come from the table, and the default one compiles seven regular expressions.
      root = try Yams.compose(yaml: text, .basic)
    } catch let error as YamlError {
      throw ConfigErrors(errors: [Self.error(error, in: name)])
    }
  }

  /// Bytes of a regular file or pipe as text; nil with errno set when it cannot be read.
  static func contents(of path: String) -> String? {
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
    }
  }

  private static func error(_ error: YamlError, in file: String) -> ConfigError {
    switch error {
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
      .composer(_, let problem, let mark, _):
      ConfigError(file: file, line: mark.line, column: mark.column, key: "", message: "expected YAML, got \(problem)")
    case .duplicatedKeysInMapping(let names, let context):
      ConfigError(
        file: file, line: context.mark.line, column: context.mark.column, key: names.sorted().joined(separator: ", "),
        message: "expected each key once, got it twice")
    default:
      ConfigError(file: file, key: "", message: "expected YAML, got \(error)")
    }
  }
}
