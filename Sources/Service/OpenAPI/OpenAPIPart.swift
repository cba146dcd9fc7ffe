@_spi(FromOutside) import Conversions
import Foundation
import Wire

/// Writes out the words of a file `openapi.json`, which is one part of the OpenAPI document. The words stand for what
/// OpenAPI says at length. What they become is in the shorthand of `OpenAPIShorthand`.
///
/// In the part:
///
/// - `routes` contains the operations by method and path, such as `"GET /api/zones"`, in place of `paths`.
/// - `parameters` contains the parameters in paths by the end of the path up to them, such as `"zone/{id}"`. Every
///   operation whose path contains that text has the parameter.
///
/// In an operation:
///
/// - `query` contains the parameters of the query by name.
/// - `takes` is the schema of a body in JSON that is required, and `takes?` of one that may be left out. `example`, or
///   `examples` by name, are examples of the body.
/// - `answers` is the response with status 200.
/// - An operation with a `scope` and without `tags` has the part's tag.
///
/// A parameter is a schema that also contains `required`, `description` and `example` of the parameter. A response has
/// `schema`, `example` and `examples` in place of its content in JSON. A text is the response `Done.` with that schema.
///
/// In a schema:
///
/// - A text, also as `type`, is a type: `"integer"`, `"integer?"` for a number or null, `"Zone"` for a reference to the
///   schema of that name, which takes no `?`, `"[Zone]"` for a list.
/// - `members` contains the properties of an object that has no others. All are required except those whose names end
///   with `?`, which is no part of the name.
///
/// These words are read in `properties`, `items`, `additionalProperties`, `oneOf`, `anyOf`, `allOf` and `not`. Other
/// keywords with schemas in them, such as `patternProperties`, are written as OpenAPI has them.
struct OpenAPIPart {
  private typealias Member = JSONValue.Member

  /// The name of the file in messages.
  private let name: String
  private let tags: [JSONValue]
  private let parameters: [Member]

  /// Returns the part without words of its own. A part that is written wrongly, or has a number whose value would not
  /// stay, traps; the message names the file and the place.
  static func plain(_ bytes: [UInt8], _ name: String) -> [String: Any] {
    let part: JSONValue
    do throws(JSONParser.Failure) { part = try JSONParser.parse(bytes) } catch {
      preconditionFailure("\(name), line \(error.line): \(error.reason)")
    }
    guard case .object(let members) = part else { preconditionFailure("\(name) is no JSON object") }
    let own = OpenAPIPart(
      name: name, tags: part["tags"]?.items.compactMap { $0["name"] } ?? [],
      parameters: part["parameters"]?.members ?? [])
    var plain = members.filter { !["routes", "parameters", "components"].contains($0.name) }
    if let routes = part["routes"] { plain.append(Member(name: "paths", value: own.paths(routes))) }
    if let components = part["components"] {
      plain.append(Member(name: "components", value: own.components(components)))
    }
    return JSONValue.object(plain).dictionary(at: name)
  }

  // MARK: operations

  private func paths(_ routes: JSONValue) -> JSONValue {
    var paths: [(name: String, operations: [Member])] = []
    for route in routes.members {
      let (place, words) = ("\(name) \(route.name)", route.name.split(separator: " ").map(String.init))
      guard words.count == 2 else { preconditionFailure("\(place) is no method with a path") }
      let plain = Member(name: words[0].lowercased(), value: operation(route.value, of: words[1], at: place))
      if let index = paths.firstIndex(where: { $0.name == words[1] }) {
        paths[index].operations.append(plain)
      } else {
        paths.append((words[1], [plain]))
      }
    }
    return .object(paths.map { Member(name: $0.name, value: .object($0.operations)) })
  }

  private func operation(_ operation: JSONValue, of path: String, at place: String) -> JSONValue {
    let words = ["query", "takes", "takes?", "example", "examples", "requestBody", "answers", "responses"]
    var plain = operation.members.filter { !words.contains($0.name) }
    func add(_ name: String, _ value: JSONValue) { plain.append(Member(name: name, value: value)) }
    if operation["scope"] != nil, operation["tags"] == nil {
      guard tags.count == 1 else { preconditionFailure("\(place) has no tags, and \(name) has several") }
      add("tags", .list(tags))
    }
    let all =
      parameters.filter { path.contains($0.name) }.map { parameter($0, in: "path", at: place) }
      + (operation["query"]?.members ?? []).map { parameter($0, in: "query", at: place) }
    if !all.isEmpty { add("parameters", .list(all)) }
    var body = operation["requestBody"]?.members ?? []
    for (word, isRequired) in [("takes", true), ("takes?", false)] {
      guard let schema = operation[word] else { continue }
      body += [Member(name: "required", value: .boolean(isRequired)), Member(name: "schema", value: schema)]
    }
    body += operation.members.filter { ["example", "examples"].contains($0.name) }
    if !body.isEmpty { add("requestBody", answer(.object(body), at: "\(place) requestBody")) }
    let success = operation["answers"].map { [Member(name: "200", value: $0)] } ?? []
    let answers = JSONValue.object(success + (operation["responses"]?.members ?? []))
    if !answers.members.isEmpty { add("responses", answers.changed { answer($0.value, at: "\(place) \($0.name)") }) }
    return .object(plain)
  }

  /// Returns the parameter that a member declares. Its name is that of the member, or the part of it in braces, if
  /// there is one.
  private func parameter(_ member: Member, in kind: String, at place: String) -> JSONValue {
    let own = member.value.members.filter { ["required", "description", "example"].contains($0.name) }
    let schema = JSONValue.object(member.value.members.filter { !own.contains($0) })
    let name = member.name.split { "{}".contains($0) }.last.map(String.init) ?? ""
    let plain = [
      Member(name: "name", value: .text(name)), Member(name: "in", value: .text(kind)),
      Member(name: "schema", value: self.schema(schema, at: "\(place) \(member.name)")),
    ]
    return .object(plain + own + (kind == "path" ? [Member(name: "required", value: true)] : []))
  }

  /// Returns a response or a request's body.
  private func answer(_ answer: JSONValue, at place: String) -> JSONValue {
    guard answer.string == nil else { return self.answer(["description": "Done.", "schema": answer], at: place) }
    let isOfContent = { (member: Member) in ["schema", "example", "examples"].contains(member.name) }
    let content = JSONValue.object(answer.members.filter(isOfContent)).changed { member in
      switch member.name {
      case "schema": schema(member.value, at: "\(place) schema")
      case "examples": member.value.changed { ["value": $0.value] }
      default: member.value
      }
    }
    guard !content.members.isEmpty else { return answer }
    return .object(
      answer.members.filter { !isOfContent($0) } + [Member(name: "content", value: ["application/json": content])])
  }

  // MARK: components

  private func components(_ components: JSONValue) -> JSONValue {
    components.changed { kind in
      switch kind.name {
      case "schemas": kind.value.changed { schema($0.value, at: "\(name) \($0.name)") }
      case "responses": kind.value.changed { answer($0.value, at: "\(name) \($0.name)") }
      default: kind.value
      }
    }
  }

  /// Returns a schema written out in full. A text is the name of a type; `true` and `false` are schemas already.
  private func schema(_ schema: JSONValue, at place: String) -> JSONValue {
    guard case .object(let members) = schema else { return schema.string.map { named($0, at: place) } ?? schema }
    let plain = members.flatMap { member -> [Member] in
      let place = "\(place) \(member.name)"
      switch (member.name, member.value) {
      case ("type", .text(let word)): return named(word, at: place).members
      case ("members", let members):
        let type = schema["type"] == nil ? [Member(name: "type", value: "object")] : []
        return type + closed(members, at: place)
      case ("properties", .object):
        let properties = member.value.changed { self.schema($0.value, at: "\(place) \($0.name)") }
        return [Member(name: member.name, value: properties)]
      case ("oneOf", .list(let items)), ("anyOf", .list(let items)), ("allOf", .list(let items)):
        return [Member(name: member.name, value: .list(items.map { self.schema($0, at: place) }))]
      case ("items", let inner), ("additionalProperties", let inner), ("not", let inner):
        return [Member(name: member.name, value: self.schema(inner, at: place))]
      default: return [member]
      }
    }
    return .object(plain)
  }

  /// Returns the members of the schema of an object that has only these properties.
  private func closed(_ properties: JSONValue, at place: String) -> [Member] {
    let required = properties.members.map(\.name).filter { !$0.hasSuffix("?") }
    let plain = properties.members.map { member in
      let name = member.name.hasSuffix("?") ? String(member.name.dropLast()) : member.name
      return Member(name: name, value: schema(member.value, at: "\(place) \(name)"))
    }
    let closed = [
      Member(name: "properties", value: .object(plain)), Member(name: "additionalProperties", value: false),
    ]
    return required.isEmpty ? closed : closed + [Member(name: "required", value: .list(required.map(JSONValue.text)))]
  }

  private static let types: Set = ["array", "boolean", "integer", "null", "number", "object", "string"]

  /// Returns the schema that a type stands for.
  private func named(_ word: String, at place: String) -> JSONValue {
    let isNullable = word.hasSuffix("?")
    let name = isNullable ? String(word.dropLast()) : word
    func orNull(_ type: String) -> JSONValue { isNullable ? [.text(type), "null"] : .text(type) }
    if name.hasPrefix("["), name.hasSuffix("]") {
      return ["type": orNull("array"), "items": named(String(name.dropFirst().dropLast()), at: place)]
    }
    if Self.types.contains(name) { return ["type": orNull(name)] }
    guard !isNullable, name.first?.isUppercase == true else {
      preconditionFailure("\(place): \(word) is no type and no schema")
    }
    return ["$ref": .text("#/components/schemas/\(name)")]
  }
}

extension JSONValue {
  /// Returns this object with the value of each member replaced by the result of `value`.
  fileprivate func changed(_ value: (Member) -> JSONValue) -> JSONValue {
    .object(members.map { Member(name: $0.name, value: value($0)) })
  }

  /// Returns the members as `JSONSerialization` reads them. A name that occurs twice traps, as when a member is written
  /// both as a word of the shorthand and in full.
  fileprivate func dictionary(at place: String) -> [String: Any] {
    members.reduce(into: [:]) { object, member in
      let place = "\(place) \(member.name)"
      guard object[member.name] == nil else { preconditionFailure("\(place) is written twice") }
      object[member.name] = member.value.any(at: place)
    }
  }

  private func any(at place: String) -> Any {
    switch self {
    case .null: return NSNull()
    case .boolean(let value): return NSNumber(value: value)
    case .number(let digits):
      guard let number = Self.kept(digits) else {
        preconditionFailure("\(place): the number \(digits) has more digits than the document can have")
      }
      return number
    case .text(let text): return text
    case .list(let items): return items.map { $0.any(at: place) }
    case .object: return dictionary(at: place)
    }
  }

  /// Returns the number that `JSONSerialization` writes with the value of these digits, or `nil` if it would write
  /// another value.
  private static func kept(_ digits: String) -> NSNumber? {
    if let whole = Int(digits) { return NSNumber(value: whole) }
    if let whole = UInt64(digits) { return NSNumber(value: whole) }
    guard let number = Double(digits), let own = value(of: digits), own == value(of: number.description) else {
      return nil
    }
    return NSNumber(value: number)
  }

  /// Returns the digits of a number without the zeros at both ends, followed by the power of ten of the last one, so that
  /// `1.50` and `15e-1` are the same. They are empty for zero, and `nil` for an exponent that no number here has.
  private static func value(of number: String) -> [Int]? {
    let parts = number.split { $0 == "e" || $0 == "E" }
    guard let mantissa = parts.first, let exponent = parts.count > 1 ? Int16(parts[1]) : 0 else { return nil }
    let digits = mantissa.compactMap(\.wholeNumberValue)
    let decimals = mantissa.split(separator: ".").dropFirst().first?.count ?? 0
    guard let last = digits.lastIndex(where: { $0 != 0 }) else { return [] }
    let power = Int(exponent) - decimals + digits.count - 1 - last
    return Array(digits[...last].drop { $0 == 0 }) + [power]
  }
}
