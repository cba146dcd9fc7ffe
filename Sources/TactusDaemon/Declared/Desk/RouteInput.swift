import Service

// The input of a route: a struct whose keys are in the path, in the query, or in the body.

extension Settings {
  /// Reads a request: the keys that the path names are read from the path, the others from the body or the query.
  ///
  /// - Throws: an `APIError`: 400 if the body is not JSON; 422 with the name of the field if a field is missing,
  ///   unknown, of the wrong kind, out of its range, or contradicts another.
  init(_ request: APIRequest, of path: RoutePath, hasBody: Bool) throws(APIError) {
    self.init()
    let (inPath, others) = (
      Self.keys.filter { path.names.contains($0.member) }, Self.keys.filter { !path.names.contains($0.member) }
    )
    for key in inPath { try readParameter(request.parameters[key.member] ?? "", of: key) }
    if hasBody {
      try readBody(request, others)
    } else {
      let names = others.map(\.member)
      if let unknown = request.query.keys.sorted().first(where: { !names.contains($0) }) {
        let expected = names.isEmpty ? "no parameter" : "one of the parameters \(names.joined(separator: ", "))"
        throw .validation(unknown, expected: expected, got: "another one")
      }
      for key in others {
        if let text = request.query[key.member] {
          try readParameter(text, of: key)
        } else if key.isRequired {
          throw .validation(key.member, expected: key.bodyKind.expected, got: "nothing")
        }
      }
    }
    if let wrong = contradictions.first {
      let key = Self.keys.first { $0.name == wrong.key }
      let member = key?.member ?? wrong.key
      throw APIError(.unprocessableContent, "VALIDATION", "\(member): \(wrong.message)", field: member)
    }
  }

  private mutating func readBody(_ request: APIRequest, _ keys: [Key<Self>]) throws(APIError) {
    if keys.isEmpty || request.body.isEmpty && !keys.contains(where: \.isRequired) { return }
    self = try request.decode { [self] (body) throws(APIError) in
      var group = self
      try group.read(&body, keys)
      return group
    }
  }

  /// Reads keys from the body of a request, or from an item of a list in the body.
  mutating func read(_ body: inout JSONReader, _ keys: [Key<Self>]) throws(APIError) {
    for key in keys {
      if let items = key.items {
        try items.read(&body, key.member, &self)
      } else if key.isRequired {
        key.take(try body.required(key.member, key.bodyKind), &self)
      } else if let value = try body.optional(key.member, key.bodyKind) {
        key.take(value, &self)
      }
    }
  }

  private mutating func readParameter(_ text: String, of key: Key<Self>) throws(APIError) {
    guard let value = key.value(text) else {
      throw .validation(key.member, expected: key.bodyKind.expected, got: "\"\(text.prefix(40))\"")
    }
    key.take(value, &self)
  }
}

/// A path below that of a system, with parameters in braces.
struct RoutePath: Sendable, Hashable {
  let text: String
  /// The names of the parameters, such as `number` in `runs/{number}/note`.
  let names: [String]

  /// Parses a path.
  ///
  /// - Parameter keys: the names of the members that a parameter may name.
  init(_ text: String, keys: [String]) {
    self.text = text
    names = text.split(separator: "/").filter { $0.hasPrefix("{") && $0.hasSuffix("}") }.map {
      String($0.dropFirst().dropLast())
    }
    declared(!text.hasPrefix("/"), "a route's path is below its system's: \(text)")
    declared(names.allSatisfy(keys.contains), "\(text): each parameter of a path is a key of what it takes")
  }
}
