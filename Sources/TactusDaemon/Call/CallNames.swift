import Service
import Wire

/// Replaces the names of things by their numbers in the words of a call: `zone/Roses on` becomes `zone/2 on`.
///
/// Where the description requires a number in the path, the names come from a list that the daemon serves: at the path
/// before the number, at its plural (`zones` for `zone`), or in the state document that has the last word before the
/// number as a member. For a value such as `zoneId` they come from the list `zones`.
struct CallNames {
  /// An item of a list that the daemon serves.
  private struct Thing {
    let number: String
    let name: String
  }

  /// A path at which the daemon serves a list of things.
  private struct Place {
    let path: [String]
    /// The member of the answer that is the list, or `nil` for the first list whose items have names.
    var list: String?
  }

  /// The greatest number of names that an error lists.
  private static let mostListed = 20

  let daemon: CallDescription
  /// Returns the daemon's answer at a path; throws if the daemon has refused the request or has not answered it.
  let look: (_ path: [String]) throws -> JSONValue

  /// Returns the words with numbers in the place of names. Nothing is requested from the daemon for words that need no
  /// number or are one.
  ///
  /// - Parameter method: the HTTP method, or `nil` to choose it by the words.
  /// - Throws: `CallError` if no thing or more than one has the name; what `look` throws.
  func resolved(_ words: CallWords, method: String?) throws -> CallWords {
    let operations = daemon.operations(at: words.segments)
    guard let first = operations.first else { return words }
    var words = words
    for (index, segment) in first.segments.enumerated() where index > 0 && CallDescription.isParameter(segment) {
      guard let parameter = first.pathParameters.first(where: { "{\($0.name)}" == segment }) else { continue }
      let before = Array(words.segments[..<index])
      let last = before[index - 1]
      let above = Array(before.dropLast())
      let places = [Place(path: above + [last + "s"]), Place(path: before)]
      let inState = [last, last + "s"].map { Place(path: above, list: $0) }
      let number = try number(of: words.segments[index], parameter, in: places + inState, CallWords.command(before))
      words.segments[index] = number
    }
    guard let operation = try? CallRequest.chosen(words, method, operations) else { return words }
    let parameters = operation.method == "GET" ? operation.queryParameters : operation.fields
    for (index, value) in words.values.enumerated() where !value.isJSON {
      guard let parameter = parameters.first(where: { $0.name == value.name }) else { continue }
      let stem = value.name.hasSuffix("Id") ? String(value.name.dropLast(2)) : value.name
      let places = [Place(path: ["api", stem + "s"]), Place(path: ["api", stem])]
      let number = try number(of: value.text, parameter, in: places, value.name)
      words.values[index] = CallWords.Value(name: value.name, text: number, isJSON: false)
    }
    return words
  }

  /// Returns the number of the thing of this name, or the text itself if a name is not possible here.
  private func number(
    of text: String, _ parameter: CallParameter, in places: [Place], _ what: String
  ) throws -> String {
    guard parameter.isNumberOnly, text != "null" else { return text }
    if case .number? = JSONValue(json: Array(text.utf8)) { return text }
    for place in places where daemon.tells(place.path) {
      let things = things(in: try look(place.path), place, key: parameter.name)
      if !things.isEmpty { return try Self.number(of: text, among: things, what) }
    }
    return text
  }

  private static func number(of text: String, among things: [Thing], _ what: String) throws(CallError) -> String {
    let exact = things.filter { $0.name == text }
    let found = exact.isEmpty ? things.filter { $0.name.lowercased() == text.lowercased() } : exact
    if found.count == 1 { return found[0].number }
    guard found.isEmpty else {
      let numbers = found.map(\.number).joined(separator: ", ")
      throw CallError("\(what): expected a number, since \(found.count) are called \(text) (\(numbers)), got the name")
    }
    let listed = things.prefix(mostListed).map { "\($0.name) (\($0.number))" }.joined(separator: ", ")
    let more = things.count > mostListed ? " …" : ""
    let near = nearestName(to: text, among: things.map(\.name)).map { " (\($0)?)" } ?? ""
    throw CallError("\(what): expected a number or one of \(listed)\(more)\(near), got \(text)")
  }

  /// Returns the items of a list in an answer that have names. An item without a number of its own has its index, from
  /// 0.
  private func things(in answer: JSONValue, _ place: Place, key: String) -> [Thing] {
    for member in answer.members where place.list == nil || place.list == member.name {
      let things = member.value.items.enumerated().compactMap { index, item -> Thing? in
        guard let name = item["name"]?.string, !name.isEmpty else { return nil }
        let number = (item[key] ?? item["id"] ?? item["index"])?.wholeNumber
        return Thing(number: "\(number ?? index)", name: name)
      }
      if !things.isEmpty { return things }
    }
    return []
  }
}

extension CallDescription {
  /// Returns whether the daemon answers GET at this path without a parameter.
  fileprivate func tells(_ path: [String]) -> Bool {
    operations(at: path).contains { operation in
      operation.method == "GET" && operation.segments == path
        && !operation.queryParameters.contains(where: \.isRequired)
    }
  }
}

extension CallParameter {
  /// Whether the value must be a number, so that a name can stand for it.
  fileprivate var isNumberOnly: Bool { !types.isEmpty && types.isSubset(of: ["number", "integer", "null"]) }
}
