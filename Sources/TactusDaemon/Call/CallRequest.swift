import Service
import Wire

/// An HTTP request to a daemon, made from the words of a call.
struct CallRequest: Equatable {
  let method: String
  /// The path with its query, percent-encoded.
  let target: String
  /// The body, or `nil` if the request has none.
  var body: JSONValue?

  /// Makes the request of an emergency stop, for which the description of the API is not needed.
  init(emergencyStop words: CallWords) { self.init(method: "POST", words.segments) }

  /// Makes a GET request for a path, which accompanies a call.
  init(lookAt segments: [String]) { self.init(method: "GET", segments) }

  /// Makes the request of a call, after checking the words against the daemon's description.
  ///
  /// - Parameter method: the HTTP method, or `nil` to choose it by the words: POST if values are given that only a command can have, otherwise
  ///   GET if the path has one.
  init(_ words: CallWords, method: String?, of daemon: CallDescription) throws(CallError) {
    let operations = daemon.operations(at: words.segments)
    guard !operations.isEmpty else { throw Self.unknown(words, daemon) }
    let operation = try Self.chosen(words, method, operations)
    try Self.check(words, operation)
    let parameters = operation.method == "GET" ? operation.queryParameters : operation.fields
    if words.body != nil, operation.method == "GET" { throw CallError("\(words.command): expected no body, got one") }
    var members: [JSONValue.Member] = []
    for value in words.values {
      let known = (operation.method == "GET" || operation.isClosed) ? parameters.map(\.name) : nil
      guard known?.contains(value.name) ?? true else { throw Self.unknown(value, words, known ?? []) }
      let parameter =
        parameters.first { $0.name == value.name } ?? CallParameter(value.name, isRequired: false, schemas: [])
      members.append(JSONValue.Member(name: value.name, value: try parameter.value(value)))
    }
    if operation.method == "GET" {
      self.init(method: "GET", words.segments, query: members)
    } else {
      if words.body == nil { try Self.check(members, words, operation) }
      self.init(method: operation.method, words.segments)
      body = words.body ?? (members.isEmpty ? nil : .object(members))
    }
  }

  /// Checks the values in the path.
  private static func check(_ words: CallWords, _ operation: CallDescription.Operation) throws(CallError) {
    for (place, text) in zip(operation.segments, words.segments) where CallDescription.isParameter(place) {
      let parameter = operation.pathParameters.first { "{\($0.name)}" == place }
      _ = try parameter?.value(CallWords.Value(name: place, text: text, isJSON: false))
    }
  }

  /// Checks the members of the body against the form that fits them best.
  private static func check(
    _ members: [JSONValue.Member], _ words: CallWords, _ operation: CallDescription.Operation
  ) throws(CallError) {
    let form = CallForm.meant(by: members, of: operation.forms)
    for member in members {
      if let field = form.fields.first(where: { $0.name == member.name }) {
        try field.check(member.value)
      } else if operation.isClosed {
        let names = form.fields.map(\.usage).joined(separator: " ")
        throw CallError("\(words.command): expected \(names.isEmpty ? "no values" : names), got \(member.name) with it")
      }
    }
    let missing = form.fields.filter { field in field.isRequired && !members.contains { $0.name == field.name } }
    guard missing.isEmpty else {
      throw CallError("\(words.command): expected \(missing.map(\.usage).joined(separator: " ")), got none")
    }
  }

  private init(method: String, _ segments: [String], query: [JSONValue.Member] = []) {
    self.method = method
    let path = "/" + segments.map(Self.encoded).joined(separator: "/")
    let parts = query.map { "\(Self.encoded($0.name))=\(Self.encoded($0.value.string ?? $0.value.compact))" }
    target = parts.isEmpty ? path : "\(path)?\(parts.joined(separator: "&"))"
  }

  /// Returns the text with every character percent-encoded except the unreserved ones of RFC 3986.
  private static func encoded(_ text: String) -> String {
    text.utf8.map { byte in
      let scalar = Unicode.Scalar(byte)
      if scalar.isASCII,
        scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || "-._~".unicodeScalars.contains(scalar)
      {
        return String(Character(scalar))
      }
      let digits = String(byte, radix: 16, uppercase: true)
      return "%" + (digits.count == 1 ? "0" : "") + digits
    }.joined()
  }

  /// Returns the operation that the words select among those of their path.
  ///
  /// - Throws: an error if the path has no operation with that method, or none that the words can select.
  static func chosen(
    _ words: CallWords, _ method: String?, _ operations: [CallDescription.Operation]
  ) throws(CallError) -> CallDescription.Operation {
    let methods = operations.map { $0.method.lowercased() }.joined(separator: " or ")
    if let method {
      guard let operation = operations.first(where: { $0.method == method }) else {
        throw CallError("\(words.command): expected --method \(methods), got \(method.lowercased())")
      }
      return operation
    }
    let look = operations.first { $0.method == "GET" }
    let command = operations.first { $0.method == "POST" }
    if let look, asks(words, look, not: command) { return look }
    let givesValues = !words.values.isEmpty || words.body != nil
    if let operation = givesValues ? command : look ?? command { return operation }
    if let look, !look.queryParameters.isEmpty { return look }
    throw CallError("\(words.command): expected --method \(methods), got no method")
  }

  /// Returns whether every value is a parameter of the look and none is a field of the command, as in `schedules/preview count=3`.
  private static func asks(
    _ words: CallWords, _ look: CallDescription.Operation, not command: CallDescription.Operation?
  ) -> Bool {
    let fields = command?.fields.map(\.name) ?? []
    return words.body == nil
      && words.values.allSatisfy { value in
        look.queryParameters.contains { $0.name == value.name } && !fields.contains(value.name)
      }
  }

  private static func unknown(_ value: CallWords.Value, _ words: CallWords, _ known: [String]) -> CallError {
    let hint =
      known.isEmpty
      ? "no values"
      : "a value that it has (\(nearestName(to: value.name, among: known).map { "\($0)?" } ?? known.joined(separator: ", ")))"
    return CallError("\(words.command): expected \(hint), got \(value.name)")
  }

  private static func unknown(_ words: CallWords, _ daemon: CallDescription) -> CallError {
    if let error = nameless(words, daemon) { return error }
    // The command is compared with the given words in the place of its path parameters.
    let commands = daemon.operations.map { operation in
      CallWords.command(
        operation.segments.enumerated().map { index, segment in
          CallDescription.isParameter(segment) && index < words.segments.count ? words.segments[index] : segment
        })
    }
    var hint: String
    if let near = nearestName(to: words.command, among: commands) {
      hint = "\(near)?"
    } else {
      let depth = daemon.operations.contains { $0.segments.starts(with: words.segments.prefix(2)) } ? 2 : 1
      let below = daemon.operations.filter { $0.segments.starts(with: words.segments.prefix(depth)) }
      let names = below.compactMap { $0.segments.dropFirst(depth).first }.filter { !CallDescription.isParameter($0) }
      hint = nearest(names, to: words.segments.dropFirst(depth).first ?? "")
    }
    if hint.isEmpty { hint = "see \(DaemonProgram.current.name) call" }
    return CallError("expected a command that this daemon has (\(hint)), got \(words.command)")
  }

  /// The greatest number of commands that an error message names.
  private static let mostNamed = 5

  /// Returns the names that are most similar to a word, and how to list the others.
  private static func nearest(_ names: [String], to word: String) -> String {
    let distinct = names.reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
    guard distinct.count > mostNamed else { return distinct.joined(separator: ", ") }
    let byDistance = distinct.enumerated().map { (editDistance(String(word.prefix(64)), $1), $0, $1) }.sorted {
      ($0.0, $0.1) < ($1.0, $1.1)
    }
    let named = byDistance.prefix(mostNamed).map(\.2).joined(separator: ", ")
    return "\(named), …: \(DaemonProgram.current.name) call lists all"
  }

  /// Returns the error for a command that is followed by a value without a name, as in `pump on 70`, or `nil` if the
  /// words have another form.
  private static func nameless(_ words: CallWords, _ daemon: CallDescription) -> CallError? {
    guard let text = words.segments.last else { return nil }
    let command = Array(words.segments.dropLast())
    let fields = daemon.operations(at: command).filter { $0.method != "GET" }.flatMap(\.fields)
    let fitting = fields.filter { field in
      // Where any text is taken, every wrong word of a command would be a value.
      let isText = field.types.isEmpty || (field.types.contains("string") && field.choices.isEmpty)
      let value = CallWords.Value(name: field.name, text: text, isJSON: false)
      return !isText && (try? field.value(value)) != nil
    }
    let required = fitting.filter(\.isRequired)
    let named = (required.isEmpty ? fitting : required).prefix(3).map { "\($0.name)=\(text)" }
    guard !named.isEmpty else { return nil }
    return CallError(
      "\(CallWords.command(command)): expected NAME=VALUE (\(named.joined(separator: " or "))), got \(text)")
  }
}

/// An error in the words of `tactus call`; nothing was sent.
struct CallError: Error, Equatable, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
