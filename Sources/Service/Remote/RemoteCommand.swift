import Wire

/// A command received over a messaging link: a word such as `stop`, or `{"command":"drive","id":7,"left":30,"right":30}`.
struct RemoteCommand: Equatable {
  /// The word of the command, `drive`: the last segment of the same route over HTTP.
  let word: String
  /// The identifier that the answer repeats, or `nil` if the command has none.
  let id: JSONValue?
  /// The remaining members, which are the body for the route: a JSON object, or no bytes if there are none.
  let body: [UInt8]

  /// The greatest length of a word and of an `id` in bytes.
  static let longestWord = 64

  var isEmergencyStop: Bool { word == "e-stop" }

  /// Reads the payload of a message.
  ///
  /// - Throws: 400 `BAD_JSON`, 422 `VALIDATION`.
  init(_ payload: [UInt8]) throws(APIError) {
    let text = String(decoding: payload, as: UTF8.self).trimmingSpace
    if Self.isWord(text) {
      (word, id, body) = (text, nil, [])
      return
    }
    let value: JSONValue
    do throws(JSONParser.Failure) {
      value = try JSONParser.parse(payload)
    } catch {
      throw APIError(
        .badRequest, "BAD_JSON",
        "expected a word or a JSON object; line \(error.line), column \(error.column): \(error.reason)")
    }
    guard case .object(var members) = value else {
      throw .validation("command", expected: "a word or a JSON object", got: value.summary)
    }
    let name = try Self.take("command", from: &members, expected: "a word like stop") { value in
      if case .text(let word) = value { Self.isWord(word) } else { false }
    }
    guard case .text(let found)? = name else {
      throw .validation("command", expected: "a word like stop", got: "nothing")
    }
    word = found
    do throws(APIError) {
      id = try Self.take("id", from: &members, expected: "a number or a short text") { value in
        switch value {
        case .number(let digits): digits.utf8.count <= Self.longestWord
        case .text(let text): text.utf8.count <= Self.longestWord
        default: false
        }
      }
    } catch {
      // A stop is refused for nothing that can be done without.
      guard word == "e-stop" else { throw error }
      id = nil
    }
    body = members.isEmpty ? [] : JSONValue.object(members).bytes
  }

  private static func take(
    _ name: String, from members: inout [JSONValue.Member], expected: String, _ isFit: (JSONValue) -> Bool
  ) throws(APIError) -> JSONValue? {
    guard let index = members.firstIndex(where: { $0.name == name }) else { return nil }
    let value = members.remove(at: index).value
    guard isFit(value) else { throw .validation(name, expected: expected, got: value.summary) }
    return value
  }

  /// Returns whether a text is the word of a command, such as `e-stop`.
  private static func isWord(_ text: String) -> Bool {
    (1...longestWord).contains(text.utf8.count)
      && text.utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || $0 == UInt8(ascii: "-") }
  }
}

extension String {
  fileprivate var trimmingSpace: String {
    let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\n" || $0 == "\r\n" || $0 == "\t" }
    let start = drop(while: isSpace)
    return String(start.reversed().drop(while: isSpace).reversed())
  }
}
