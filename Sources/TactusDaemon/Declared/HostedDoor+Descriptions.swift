import Service
import Wire

// A declared system described: for the page and for `call`, for OpenAPI.

extension HostedDoor {
  /// One item of `GET /api/systems`.
  func declaration(faults: NamedFaults, isSimulated: Bool, settings: [JSONValue]) -> JSONValue {
    let active = faults.active
    return .object([
      "name": .text(name), "title": .text(name.titled), "summary": .text(System.summary),
      "simulated": .boolean(isSimulated),
      "fields": .list(document.leaves(of: newest).filter(\.isInState).map(\.declaration)),
      "commands": .list(
        System.commands.map { command in
          .object([
            "name": .text(command.name), "meaning": .text(command.meaning), "scope": .text(command.scope.rawValue),
            "makesSafe": .boolean(command.makesSafe),
            "parameters": .list(command.parameters.map(\.declaration)),
          ])
        }),
      "notices": .list(
        System.Notice.allCases.map {
          .object([
            "name": .text($0.rawValue), "meaning": .text($0.sentence), "trouble": .boolean($0.isTrouble),
          ])
        }),
      "settings": .list(settings),
      "faults": .list(
        isSimulated
          ? faults.all.map {
            .object([
              "name": .text($0.name), "meaning": .text($0.meaning), "active": .boolean(active.contains($0.name)),
            ])
          } : []),
    ])
  }

  /// What the OpenAPI document says of it.
  ///
  /// - Parameter faults: names of those that its simulation can have; empty if it is not simulated.
  func api(faults: [String]) -> APIAdditions.System {
    // KettleLeft and kettleLeft of kettle/left.
    let parts = name.split(separator: "/").map { String($0).titled.replacing(" ", with: "") }
    let title = parts.joined()
    let id = System.name.replacing("-", with: "") + parts.dropFirst().joined()
    let (state, whole, done) = ("\(title)Snapshot", title, "\(title)CommandDone")
    var paths: [JSONValue.Member] = [
      .init(
        name: "/api/\(name)",
        value: .object([
          "get": operation(
            "get\(title)", System.summary, scope: .read, body: nil,
            answer: ("As its loop left it.", .reference("schemas", whole)), errors: Self.looks)
        ]))
    ]
    for command in System.commands {
      let words = command.name.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
      let body = command.parameters.isEmpty ? nil : JSONValue.body(command.parameters)
      paths.append(
        .init(
          name: "/api/\(name)/\(command.name)",
          value: .object([
            "post": operation(
              "\(id)\(words)", command.meaning, scope: command.scope.scope, body: body,
              answer: ("Taken by the loop.", .reference("schemas", done)),
              errors: body == nil ? Self.commands : Self.bodies)
          ])))
    }
    for (word, ending, meaning) in [
      ("e-stop", "EStop", "Stops every output, latched until a reset."), ("reset", "Reset", "Leaves e-stop and fault."),
    ] {
      paths.append(
        .init(
          name: "/api/\(name)/\(word)",
          value: .object([
            "post": operation(
              "\(id)\(ending)", meaning, scope: .control, body: nil,
              answer: ("Taken by the loop.", .reference("schemas", done)), errors: Self.commands)
          ])))
    }
    if System.Rules.keys.contains(where: { $0.items == nil }) {
      paths.append(.init(name: "/api/\(name)/settings", value: .object(["put": settings("put\(title)Settings")])))
    }
    paths += deskPaths
    return APIAdditions.System(
      name: name, summary: System.summary, paths: .object(paths), schemas: schemas(state, whole, done),
      stateSchema: state, faults: faults)
  }

  private func settings(_ id: String) -> JSONValue {
    let rules = System.Rules.keys.filter { $0.items == nil }.map { key in
      JSONValue.Member(name: key.name, value: key.kind.schema(key.meaning, unit: key.unit).orNull)
    }
    let schema: JSONValue = .object([
      "type": .text("object"), "properties": .object(rules), "additionalProperties": .boolean(false),
    ])
    return operation(
      id, "Changes rules until the next start or reload. A wider limit takes effect when the outputs have been safe.",
      scope: .admin,
      body: .object([
        "required": .boolean(true),
        "content": .object(["application/json": .object(["schema": schema])]),
      ]), answer: ("Taken by the loop.", .reference("schemas", "ReloadDone")), errors: Self.bodies)
  }

  private static var looks: [String] { ["400", "401", "403", "405", "429"] }
  private static var commands: [String] { ["400", "401", "403", "405", "409", "429", "503"] }
  private static var bodies: [String] { ["400", "401", "403", "405", "409", "413", "415", "422", "429", "503"] }

  /// The routes of its desk, a path each with its methods.
  private var deskPaths: [JSONValue.Member] {
    var paths: [(path: String, methods: [JSONValue.Member])] = []
    for (path, method, scope, route) in beside?.descriptions ?? [] {
      let words = "\(method.rawValue)/\(path.dropFirst(5))".split { !$0.isLetter && !$0.isNumber }
      let id = words.dropFirst().reduce(String(words[0])) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
      let described = operation(
        id, route.meaning, scope: scope, parameters: route.parameters, body: route.body, content: route.content,
        answer: "Done.", errors: route.errors)
      let member = JSONValue.Member(name: method.rawValue, value: described)
      if let index = paths.firstIndex(where: { $0.path == path }) {
        paths[index].methods.append(member)
      } else {
        paths.append((path, [member]))
      }
    }
    return paths.map { .init(name: $0.path, value: .object($0.methods)) }
  }

  private func operation(
    _ id: String, _ summary: String, scope: Scope, body: JSONValue?, answer: (meaning: String, schema: JSONValue),
    errors: [String]
  ) -> JSONValue {
    operation(
      id, summary, scope: scope, parameters: [], body: body,
      content: .object(["application/json": .object(["schema": answer.schema])]), answer: answer.meaning, errors: errors
    )
  }

  private func operation(
    _ id: String, _ summary: String, scope: Scope, parameters: [JSONValue], body: JSONValue?, content: JSONValue,
    answer: String, errors: [String]
  ) -> JSONValue {
    let ok: JSONValue = .object(["description": .text(answer), "content": content])
    let responses =
      [JSONValue.Member(name: "200", value: ok)]
      + errors.map {
        .init(name: $0, value: .reference("responses", JSONValue.responses[$0]!))
      }
    return .object([
      "operationId": .text(id), "summary": .text(summary), "description": .text("Scope: \(scope.rawValue)."),
      "tags": .list([.text(name)]), "parameters": parameters.isEmpty ? nil : .list(parameters), "requestBody": body,
      "responses": .object(responses),
    ])
  }

  private func schemas(_ name: String, _ whole: String, _ done: String) -> JSONValue {
    let state = document.shapes.schema
    guard case .object(let properties)? = state["properties"], case .list(let required)? = state["required"] else {
      preconditionFailure("the schema of an object has properties")
    }
    let ok = JSONValue.Member(name: "ok", value: .object(["type": .text("boolean")]))
    let at = JSONValue.Member(
      name: "monotonicNs",
      value: .object([
        "type": .text("integer"), "minimum": .whole(0), "description": .text("The tick's, CLOCK_MONOTONIC."),
      ]))
    let word = document.shapes.first { $0.name == "state" }.flatMap { shape -> JSONValue.Member? in
      guard case .value(let form) = shape.content else { return nil }
      return JSONValue.Member(name: "state", value: form.plain.schema("After it.", unit: .none))
    }
    let verdict = JSONValue.Member(
      name: "verdict", value: .object(["type": .text("string"), "const": .text("accepted")]))
    return .object([
      .init(name: name, value: state),
      .init(
        name: whole,
        value: .closedObject([ok, at] + properties, required: ["ok", "monotonicNs"] + required.compactMap(\.string))),
      .init(name: done, value: .closedObject([ok, verdict] + [word].compactMap(\.self) + [at])),
    ])
  }
}

extension ParameterDescription {
  fileprivate var declaration: JSONValue {
    .object([
      "name": .text(name), "meaning": .text(meaning), "type": .text(kind.typeName),
      "choices": kind.choices.map { .list($0.map { .text($0) }) }, "minimum": kind.bounds?.lowest,
      "maximum": kind.bounds?.highest, "unit": .text(unit.sign), "standard": standard?.json,
    ])
  }
}

extension Settings {
  /// Items of `settings` of `GET /api/systems`.
  func declaration(mayChange: Bool) -> [JSONValue] {
    Self.keys.filter { $0.items == nil }.map { key in
      .object([
        "name": .text(key.name), "meaning": .text(key.meaning), "type": .text(key.kind.typeName),
        "choices": key.kind.choices.map { .list($0.map { .text($0) }) }, "minimum": key.kind.bounds?.lowest,
        "maximum": key.kind.bounds?.highest, "unit": .text(key.unit.sign), "value": key.read(self)?.plain.json ?? .null,
        "standard": key.standard?.plain.json ?? .null, "mayChange": .boolean(mayChange),
      ])
    }
  }
}

extension JSONValue {
  fileprivate static let responses = [
    "400": "BadRequest", "401": "Unauthorized", "403": "Forbidden", "404": "NotFound", "405": "MethodNotAllowed",
    "409": "Conflict",
    "413": "TooLarge", "415": "UnsupportedMediaType", "422": "Validation", "429": "TooManyAttempts",
    "503": "Unavailable",
  ]

  static func reference(_ kind: String, _ name: String) -> JSONValue {
    .object(["$ref": .text("#/components/\(kind)/\(name)")])
  }

  /// A schema that allows null, too: a member that says nothing.
  var orNull: JSONValue {
    .object(
      members.map { member in
        switch (member.name, member.value) {
        case ("type", .text(let type)): Member(name: "type", value: .list([.text(type), .text("null")]))
        case ("enum", .list(let words)): Member(name: "enum", value: .list(words + [.null]))
        default: member
        }
      })
  }

  fileprivate static func body(_ parameters: [ParameterDescription]) -> JSONValue {
    let properties = parameters.map { parameter in
      let schema = parameter.kind.schema(parameter.meaning, unit: parameter.unit)
      let standard = parameter.standard.map { [Member(name: "default", value: $0.json)] } ?? []
      return Member(name: parameter.name, value: .object(schema.members + standard))
    }
    let required = parameters.filter { $0.standard == nil }.map(\.name)
    return .object([
      "required": .boolean(!required.isEmpty),
      "content": .object(["application/json": .object(["schema": .closedObject(properties, required: required)])]),
    ])
  }
}
