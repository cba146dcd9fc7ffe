import Foundation

/// Expands the shorthand of the parts of the OpenAPI document, also of those that are made of declarations. Files have
/// further words, which `OpenAPIPart` writes out. The shorthand leaves out what follows from other parts:
///
/// - The errors of an operation follow from its parameters and its body; further status codes are listed in `errors`,
///   such as `["409", "503"]`.
/// - The scope of an operation, in `scope`, becomes the last sentence of its description.
/// - A schema within another one that has a name in `as` becomes a schema of that name, and a reference takes its
///   place.
/// - A schema with `like` extends the schema of that name, whose members it overwrites; the required members of both
///   are required.
enum OpenAPIShorthand {
  private typealias Object = [String: Any]

  /// The names of the responses to errors by status code.
  private static let errors = [
    "400": "BadRequest", "401": "Unauthorized", "403": "Forbidden", "404": "NotFound", "405": "MethodNotAllowed",
    "409": "Conflict", "413": "TooLarge", "414": "TargetTooLong", "415": "UnsupportedMediaType", "422": "Validation",
    "423": "Locked",
    "429": "TooManyAttempts", "503": "Unavailable",
  ]

  // MARK: operations

  /// Returns the path items with their operations written out.
  static func paths(_ paths: [String: Any]) -> [String: Any] {
    Dictionary(
      uniqueKeysWithValues: paths.map { path, item in
        let operations = (item as? Object ?? [:]).mapValues { value in
          (value as? Object).map { operation($0, at: path) } ?? value
        }
        return (path, operations)
      })
  }

  private static func operation(_ operation: Object, at path: String) -> Object {
    var operation = operation
    var responses = operation["responses"] as? Object ?? [:]
    for code in codes(of: operation, at: path) {
      guard let name = errors[code] else { preconditionFailure("\(path): \(code) is no status code of an error") }
      responses[code] = ["$ref": "#/components/responses/\(name)"]
    }
    operation["responses"] = responses
    if let scope = operation["scope"] as? String {
      let text = [operation["description"] as? String, "Scope: \(scope)."].compactMap(\.self)
      operation["description"] = text.joined(separator: "\n\n")
    }
    (operation["errors"], operation["scope"]) = (nil, nil)
    return operation
  }

  private static func codes(of operation: Object, at path: String) -> Set<String> {
    var codes: Set = ["400", "401", "403", "405", "429"]
    if path.contains("{") { codes.formUnion(["404", "414"]) }
    if let body = operation["requestBody"] as? Object {
      codes.formUnion(["413", "422"])
      if (body["content"] as? Object)?["application/json"] != nil { codes.insert("415") }
    }
    let parameters = operation["parameters"] as? [Object] ?? []
    if parameters.contains(where: { $0["in"] as? String == "query" }) { codes.formUnion(["414", "422"]) }
    return codes.union(operation["errors"] as? [String] ?? [])
  }

  // MARK: schemas

  /// Returns the schemas, each of them written out.
  static func schemas(_ schemas: [String: Any]) -> [String: Any] {
    var named = schemas
    // Schemas that are named within another one are expanded there.
    let inside = names(in: schemas)
    for (name, schema) in schemas where !inside.contains(name) { named[name] = naming(schema, in: &named) }
    return Dictionary(uniqueKeysWithValues: named.keys.map { ($0, schema($0, of: named) as Any) })
  }

  private static func names(in value: Any) -> Set<String> {
    guard let own = value as? Object else { return [] }
    return own.values.reduce(into: Set([own["as"] as? String].compactMap(\.self))) { $0.formUnion(names(in: $1)) }
  }

  /// Returns a schema in which references replace the inner schemas that have a name, which become schemas of that
  /// name. The members of an existing schema of the same name overwrite theirs.
  private static func naming(_ value: Any, in schemas: inout Object) -> Any {
    guard var own = value as? Object else { return value }
    if let name = own["as"] as? String {
      let description = own["description"]
      (own["as"], own["description"], own["type"]) = (nil, nil, "object")
      schemas[name] = naming(written(schemas[name] as? Object ?? [:], over: own), in: &schemas)
      let reference = ["$ref": "#/components/schemas/\(name)"]
      guard (value as? Object)?["type"] is [Any] else { return reference }
      return ["oneOf": [reference, ["type": "null"]], "description": description ?? ""]
    }
    return own.mapValues { naming($0, in: &schemas) }
  }

  private static func schema(_ name: String, of schemas: Object) -> Object {
    guard var own = schemas[name] as? Object else { preconditionFailure("no schema is called \(name)") }
    guard let like = own.removeValue(forKey: "like") as? String else { return own }
    let others = schema(like, of: schemas)
    var both = written(own, over: others)
    if let own = own["required"] as? [String], let others = others["required"] as? [String] {
      both["required"] = others + own
    }
    return both
  }

  // MARK: parts

  /// Returns an object with another one merged over it: objects member by member, while lists and all other values are
  /// replaced. A reference replaces a whole object, and null removes a member.
  static func written(_ over: [String: Any], over made: [String: Any]) -> [String: Any] {
    if over["$ref"] != nil { return over }
    return made.merging(over) { made, over in
      if let made = made as? Object, let over = over as? Object { written(over, over: made) } else { over }
    }.filter { !($0.value is NSNull && made[$0.key] != nil) }
  }
}
