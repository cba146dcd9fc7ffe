import Service
import Wire

/// The commands and readings that a daemon offers, from its OpenAPI document.
struct CallDescription {
  struct Operation {
    /// The HTTP method: `POST`.
    let method: String
    /// The segments of the path: `["api", "zone", "{id}", "on"]`.
    let segments: [String]
    let summary: String
    /// The first tag of the operation in the document, which is mostly the name of a system.
    let group: String
    let pathParameters: [CallParameter]
    let queryParameters: [CallParameter]
    /// The members of the body, of all its forms together; empty if the operation takes no body or names no members.
    let fields: [CallParameter]
    /// Whether the body may have no members other than these.
    let isClosed: Bool
    /// The forms that the body may have, at least one: a fault may concern a bus or a lane.
    let forms: [CallForm]
    /// The kind of a JSON body without named members, such as `LIST`, or `nil` if the members are named or there is no body.
    let wholeBody: String?
    /// Whether the body is a file instead of JSON.
    let takesFile: Bool
  }

  let operations: [Operation]
  private let document: JSONValue

  /// The segments of the path at which a daemon serves its description.
  static let path = ["api", "openapi.json"]

  /// Reads a document. Returns `nil` if the bytes are not an OpenAPI document.
  init?(_ bytes: [UInt8]) {
    guard let document = JSONValue(json: bytes) else { return nil }
    self.init(document)
  }

  /// Reads a document. Returns `nil` if it is not an OpenAPI document.
  init?(_ document: JSONValue) {
    guard document["openapi"] != nil, case .object(let paths)? = document["paths"] else { return nil }
    self.document = document
    var operations: [Operation] = []
    for path in paths {
      for method in ["get", "post", "put", "delete"] {
        guard let described = path.value[method] else { continue }
        let shared = path.value["parameters"]?.items ?? []
        operations.append(
          Self.operation(method, path.name, described, shared: shared, in: CallSchemas(document: document)))
      }
    }
    self.operations = operations
  }

  private static func operation(
    _ method: String, _ path: String, _ described: JSONValue, shared: [JSONValue], in schemas: CallSchemas
  ) -> Operation {
    let all = shared + (described["parameters"]?.items ?? [])
    func parameters(in place: String) -> [CallParameter] {
      all.map(schemas.resolved).filter { $0["in"]?.string == place }.map { parameter in
        CallParameter(
          parameter["name"]?.string ?? "", isRequired: parameter["required"] == true,
          schemas: schemas.alternatives(of: parameter["schema"] ?? [:]))
      }
    }
    let content = described["requestBody"].map(schemas.resolved)?["content"]
    let body = content?["application/json"]?["schema"]
    let fields = body.map(schemas.fields) ?? []
    let forms = body.map(schemas.forms) ?? []
    let whole = body.map { CallParameter("", isRequired: true, schemas: schemas.alternatives(of: $0)).summary }
    return Operation(
      method: method.uppercased(), segments: path.split(separator: "/").map(String.init),
      summary: described["summary"]?.string ?? "", group: described["tags"]?.items.first?.string ?? "",
      pathParameters: parameters(in: "path"), queryParameters: parameters(in: "query"),
      fields: fields,
      isClosed: body.map { schemas.alternatives(of: $0).contains { $0["additionalProperties"] == false } } ?? true,
      forms: forms.isEmpty ? [CallForm(summary: nil, fields: fields)] : forms,
      wholeBody: fields.isEmpty ? whole : nil, takesFile: content != nil && body == nil)
  }

  /// The tags of the document, which group its operations, in the order of the document.
  var groups: [String] {
    let named = document["tags"]?.items.compactMap { $0["name"]?.string } ?? []
    return operations.reduce(into: named) { groups, operation in
      if !groups.contains(operation.group) { groups.append(operation.group) }
    }
  }

  /// Returns the operations of a path, one for each method; empty if the daemon does not have the path. As on the
  /// server, a literal segment takes precedence over a parameter.
  func operations(at segments: [String]) -> [Operation] {
    let fitting = operations.filter { operation in
      operation.segments.count == segments.count
        && zip(operation.segments, segments).allSatisfy { $0 == $1 || Self.isParameter($0) }
    }
    let best = fitting.map { $0.segments.map(Self.isParameter) }.min { first, second in
      first.lexicographicallyPrecedes(second) { !$0 && $1 }
    }
    return fitting.filter { $0.segments.map(Self.isParameter) == best }
  }

  static func isParameter(_ segment: String) -> Bool { segment.hasPrefix("{") }
}

/// The schemas of an OpenAPI document, with their references resolved.
struct CallSchemas {
  let document: JSONValue
  /// The greatest depth followed, beyond that of every real schema; it ends a schema that refers to itself.
  private static let greatestDepth = 16

  func resolved(_ value: JSONValue) -> JSONValue {
    var value = value
    for _ in 0..<Self.greatestDepth {
      guard let path = value["$ref"]?.string, path.hasPrefix("#/") else { return value }
      value = path.dropFirst(2).split(separator: "/").reduce(document) { $0[String($1)] ?? [:] }
    }
    return value
  }

  /// Returns a schema together with all schemas of which it is composed.
  func alternatives(of schema: JSONValue, depth: Int = 0) -> [JSONValue] {
    let schema = resolved(schema)
    guard depth < Self.greatestDepth else { return [schema] }
    let parts = ["allOf", "anyOf", "oneOf"].flatMap { schema[$0]?.items ?? [] }
    return [schema] + parts.flatMap { alternatives(of: $0, depth: depth + 1) }
  }

  /// Returns the members that an object may have, including those of all its alternatives.
  func fields(of schema: JSONValue) -> [CallParameter] {
    var names: [String] = []
    var found: [String: [JSONValue]] = [:]
    let objects = alternatives(of: schema).filter { $0["properties"] != nil }
    for member in objects.flatMap({ $0["properties"]?.members ?? [] }) {
      if found[member.name] == nil { names.append(member.name) }
      found[member.name, default: []] += alternatives(of: member.value)
    }
    let required = required(by: schema)
    let fields = names.map { CallParameter($0, isRequired: required.contains($0), schemas: found[$0] ?? []) }
    // The members of a served document are in alphabetical order; the list of required ones keeps the order in which it was written.
    let order = alternatives(of: schema).flatMap { $0["required"]?.items.compactMap(\.string) ?? [] }
    func place(_ field: CallParameter) -> Int { order.firstIndex(of: field.name) ?? order.count }
    return fields.filter(\.isRequired).sorted { place($0) < place($1) } + fields.filter { !$0.isRequired }
  }

  /// Returns the forms of an object that may have one of several, each with its members; empty if there is only one form.
  func forms(of schema: JSONValue) -> [CallForm] {
    let schema = resolved(schema)
    let choices = (schema["oneOf"] ?? schema["anyOf"])?.items.map(resolved) ?? []
    if choices.contains(where: { $0["properties"] != nil }) {
      let objects = choices.filter { $0["properties"] != nil }
      return objects.map { CallForm(summary: $0["description"]?.string, fields: fields(of: $0)) }
    }
    // All forms have the same members; each form requires some and excludes those that only another form requires.
    let needed = choices.map { Set($0["required"]?.items.compactMap(\.string) ?? []) }
    guard needed.count > 1, needed.allSatisfy({ !$0.isEmpty }) else { return [] }
    return needed.map { own in
      let others = needed.reduce(Set()) { $0.union($1) }.subtracting(own)
      let members = fields(of: schema).filter { !others.contains($0.name) }.map { $0.required(own.contains($0.name)) }
      return CallForm(summary: nil, fields: members.filter(\.isRequired) + members.filter { !$0.isRequired })
    }
  }

  private func required(by schema: JSONValue, depth: Int = 0) -> Set<String> {
    let schema = resolved(schema)
    guard depth < Self.greatestDepth else { return [] }
    var required = Set(schema["required"]?.items.compactMap(\.string) ?? [])
    for part in schema["allOf"]?.items ?? [] { required.formUnion(self.required(by: part, depth: depth + 1)) }
    for choices in [schema["anyOf"], schema["oneOf"]].compactMap({ $0?.items }) {
      let each = choices.map { self.required(by: $0, depth: depth + 1) }
      required.formUnion(each.dropFirst().reduce(each.first ?? []) { $0.intersection($1) })
    }
    return required
  }
}

/// One of the forms that the body of a command may have.
struct CallForm {
  /// The purpose of this form, or `nil` if the document does not state one.
  let summary: String?
  /// The members of the body in this form, the required ones first.
  let fields: [CallParameter]

  /// Returns a measure of how badly members fit the form, as numbers to be compared one after another: the members with a value that the form does
  /// not allow, the members that the form does not have, and the required members that are missing.
  private func misfit(_ members: [JSONValue.Member]) -> [Int] {
    let known = members.compactMap { member in fields.first { $0.name == member.name }.map { ($0, member.value) } }
    let wrong = known.count { field, value in value.string.map { !field.allows($0) } ?? false }
    let missing = fields.count { field in field.isRequired && !members.contains { $0.name == field.name } }
    return [wrong, members.count - known.count, missing]
  }

  /// Returns the form that fits these members best.
  static func meant(by members: [JSONValue.Member], of forms: [CallForm]) -> CallForm {
    forms.min { $0.misfit(members).lexicographicallyPrecedes($1.misfit(members)) } ?? CallForm(summary: nil, fields: [])
  }
}
