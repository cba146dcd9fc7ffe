import ArgumentParser
import Glibc
import Service
import Tactus
import Wire

/// The completions of a shell for the arguments of a running daemon, from the daemon's description and state. If a
/// daemon, a token or an answer within 0.4 s is missing, the list is shorter or empty; no error is printed.
enum CallCompletion {
  /// The time limit of a request.
  private static let limit = Duration.milliseconds(400)

  /// The completion of the arguments of `call`: a path as far as its next slash or its end, then the names of values.
  static var words: CompletionKind { .custom(completeWords(_:_:_:)) }

  /// The completion of the names of the systems that the daemon runs.
  static var systems: CompletionKind { .custom(completeSystems(_:_:_:)) }

  /// The completion of the keys that may change while the daemon runs.
  static var keys: CompletionKind { .custom(completeKeys(_:_:_:)) }

  private static func completeWords(_ line: [String], _ index: Int, _ prefix: String) -> [String] {
    guard let document = document(line, CallDescription.path), let daemon = CallDescription(document) else { return [] }
    return candidates(of: daemon, after: pathWords(line.prefix(index)), prefix: prefix)
  }

  private static func completeSystems(_ line: [String], _ index: Int, _ prefix: String) -> [String] {
    let names = document(line, ["api", "health"])?["systems"]?.members.map(\.name) ?? []
    return names.filter { $0.hasPrefix(prefix) }
  }

  private static func completeKeys(_ line: [String], _ index: Int, _ prefix: String) -> [String] {
    let settings = document(line, ["api", "settings"])?["settings"]?.items ?? []
    return settings.compactMap { $0["key"]?.string }.filter { $0.hasPrefix(prefix) }
  }

  /// Returns the possible next words of a call.
  ///
  /// - Parameters:
  ///   - before: the words of the path before the one that is completed.
  ///   - prefix: the beginning of the word that is completed, which may hold slashes.
  static func candidates(of daemon: CallDescription, after before: [String], prefix: String) -> [String] {
    // Paths from the root are not offered.
    guard !prefix.hasPrefix("/"), let words = try? CallWords(before) else { return [] }
    let given = words.segments.isEmpty ? ["api"] : words.segments
    let slash = prefix.lastIndex(of: "/")
    let inside = slash.map { prefix[..<$0].split(separator: "/").map(String.init) } ?? []
    let head = slash.map { String(prefix[...$0]) } ?? ""
    let path = given + inside
    let below = daemon.operations.filter { operation in
      operation.segments.count > path.count
        && zip(operation.segments, path).allSatisfy { $0 == $1 || CallDescription.isParameter($0) }
    }
    var found = below.map { $0.segments[path.count] }.filter { !CallDescription.isParameter($0) }.map { head + $0 }
    if slash == nil {
      let operations = daemon.operations(at: path)
      let values = Set(words.values.map(\.name))
      let fields = operations.flatMap { $0.method == "GET" ? $0.queryParameters : $0.fields }
      found += fields.filter { !values.contains($0.name) }.map { "\($0.name)=" }
    }
    return Set(found).filter { $0.hasPrefix(prefix) }.sorted()
  }

  /// The options of `call` that take no value, so that the word after one is an argument.
  private static let flags: Set = ["--json", "--follow", "-f", "--yes"]

  /// Returns the arguments of `call` on a command line up to the word that is completed. The shell may have split
  /// `NAME=VALUE` at the equals sign.
  private static func pathWords(_ line: some Sequence<String>) -> [String] {
    var words: [String] = []
    var isOfOption = false
    for word in line.drop(while: { $0 != "call" }).dropFirst() {
      if isOfOption {
        isOfOption = false
      } else if word.hasPrefix("-") {
        isOfOption = !word.contains("=") && !flags.contains(word)
      } else if let last = words.last, word == "=" || last.hasSuffix("=") {
        words[words.count - 1] = last + word
      } else {
        words.append(word)
      }
    }
    return words
  }

  /// Returns the document at a path of the daemon that the command line names, or of this machine's daemon; `nil` if it
  /// does not arrive in time.
  private static func document(_ line: [String], _ path: [String]) -> JSONValue? {
    func value(_ option: String) -> String? {
      if let index = line.firstIndex(of: option), index + 1 < line.count { return line[index + 1] }
      return line.first { $0.hasPrefix(option + "=") }.map { String($0.dropFirst(option.count + 1)) }
    }
    let file = value("--token-file").flatMap { access($0, R_OK) == 0 ? $0 : nil }
    let given = [("--port", value("--port")), ("--token-file", file), ("--fingerprint", value("--fingerprint"))]
    let words = given.flatMap { name, value in value.map { [name, $0] } ?? [] }
    guard let options = try? DaemonOptions.parse(words), let client = try? options.client(of: value("--host")).client
    else { return nil }
    defer { client.stop() }
    guard case .success(let answer) = client.ask("GET", CallRequest(lookAt: path).target, limit: limit),
      answer.status == 200
    else { return nil }
    return JSONValue(json: answer.body)
  }
}
