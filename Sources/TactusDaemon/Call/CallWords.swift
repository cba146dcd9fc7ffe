import Service
import Wire

/// The words of `tactus call`: a path and named values.
struct CallWords: Equatable {
  struct Value: Equatable {
    let name: String
    let text: String
    /// Whether the value was written as `NAME:=JSON` instead of `NAME=TEXT`.
    let isJSON: Bool
  }

  /// The segments of the path from the root: `["api", "leg", "0", "arm"]`.
  var segments: [String] = []
  var values: [Value] = []
  /// The complete body, written as `:=JSON`, or `nil` if none was given.
  private(set) var body: JSONValue?
  /// The words of an emergency stop that it does not use, as they were written: values, and words behind it. It is never refused for them.
  private(set) var unused: [String] = []

  /// Reads the words of a command line.
  ///
  /// - Parameter words: the words, such as `leg/0 arm`, `robot drive left=30` or `/zone/on/1`. The path is below `/api`
  ///   unless the first word begins with a slash.
  init(_ words: [String]) throws(CallError) {
    for word in words where !word.contains("=") {
      if segments.isEmpty, !word.hasPrefix("/") { segments.append("api") }
      segments += word.split(separator: "/").map(String.init)
    }
    takeSpellingOfEmergencyStop()
    if isEmergencyStop {
      unused += words.filter { $0.contains("=") }
      return
    }
    for word in words {
      guard let equals = word.firstIndex(of: "=") else { continue }
      try addValue(word[..<equals], String(word[word.index(after: equals)...]))
    }
    if segments.isEmpty, !(values.isEmpty && body == nil) { throw CallError("expected a command before its values") }
    if body != nil, !values.isEmpty { throw CallError("expected the whole body (:=JSON) or NAME=VALUE, got both") }
  }

  private mutating func addValue(_ name: Substring, _ text: String) throws(CallError) {
    let isJSON = name.hasSuffix(":")
    let name = String(isJSON ? name.dropLast() : name)
    if isJSON, name.isEmpty {
      guard body == nil else { throw CallError("expected the whole body (:=JSON) once, got it again") }
      body = try Self.json(text, for: "the body")
      return
    }
    guard !name.isEmpty else { throw CallError("expected NAME=VALUE, got =\(text)") }
    guard !values.contains(where: { $0.name == name }) else {
      throw CallError("expected each value once, got \(name) again")
    }
    values.append(Value(name: name, text: text, isJSON: isJSON))
  }

  /// The letters of the words that mean an emergency stop.
  private static let emergencyStops: Set = ["estop", "emergencystop"]

  /// Writes a word, or two, as `e-stop` if their letters are those of another spelling: `estop`, `E_STOP`, `e stop`. The words before them are then
  /// written in small letters, as the names of all systems are. An emergency stop with words behind it, such as `e-stop robot` or `robot e-stop now`,
  /// is one of everything: in doubt more is stopped.
  private mutating func takeSpellingOfEmergencyStop() {
    guard segments.first == "api" else { return }
    let words = Array(segments.dropFirst())
    for start in words.indices {
      for end in (start + 1)...(start + 2) where end <= words.count {
        let letters = words[start..<end].joined().lowercased().filter(\.isLetter)
        guard Self.emergencyStops.contains(letters) else { continue }
        unused = Array(words[end...])
        let system = unused.isEmpty ? words[..<start].map { $0.lowercased() } : []
        segments = ["api"] + system + ["e-stop"]
        return
      }
    }
  }

  static func json(_ text: String, for name: String) throws(CallError) -> JSONValue {
    guard let value = JSONValue(json: Array(text.utf8)) else {
      throw CallError("\(name): expected JSON behind :=, got \(text)")
    }
    return value
  }

  /// The command as a user writes it: `leg 0 arm`.
  var command: String { Self.command(segments) }

  static func command(_ segments: [String]) -> String {
    segments.first == "api" ? segments.dropFirst().joined(separator: " ") : "/" + segments.joined(separator: "/")
  }

  /// Whether the words are an emergency stop, which is sent without first reading the description of the API.
  var isEmergencyStop: Bool {
    segments.first == "api" && segments.last == "e-stop" && values.isEmpty && body == nil
  }

  /// Whether the words are a reset of one system or of all.
  var isReset: Bool { segments.first == "api" && segments.last == "reset" && values.isEmpty && body == nil }
}
