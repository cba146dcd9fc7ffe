import Service
import ServiceDocuments
import Wire

/// A declared system's part of the OpenAPI document, made from the declaration, in the shorthand that `OpenAPIDocument`
/// writes out.
struct SystemAPI<System: DeviceSystem> {
  typealias Routes = [(path: String, method: RouteMethod, scope: Scope, description: RouteDescription)]

  /// The name of the running system, such as `kettle/left`.
  private let name: String
  /// The routes of the system's desk.
  private let routes: Routes
  /// The names of the schemas of the state, of the document at `/api/NAME` and of the answer to a command.
  private let state, whole, done: String
  private let title: String

  init(_ name: String, routes: Routes = []) {
    (self.name, self.routes) = (name, routes)
    // The title is `KettleLeft` for `kettle/left`.
    title = name.split(separator: "/").map { String($0).titled.replacing(" ", with: "") }.joined()
    let own = System.self as? any HasDocuments.Type
    (state, whole) = (own?.stateSchema ?? "\(title)Snapshot", own?.documentSchema ?? title)
    done = "\(whole)CommandDone"
  }

  /// The part of a system without documents of its own.
  var additions: APIAdditions.System {
    let rules = System.Rules.keys.contains { $0.items == nil } ? [settings] : []
    return APIAdditions.System(
      name: name, summary: System.summary, paths: .object(ofLoop + rules + ofDesk), schemas: .object(schemas),
      stateSchema: state)
  }

  /// The part of a system whose hand-written documents take precedence over it.
  var underDocuments: JSONValue {
    let status: JSONValue = .object([
      "properties": .object([
        "systems": .object(["properties": .object([.init(name: name, value: .reference("schemas", state))])])
      ])
    ])
    return .object([
      "paths": .object(ofLoop),
      "components": .object(["schemas": .object(schemas + [.init(name: "Status", value: status)])]),
    ])
  }

  // MARK: routes

  /// The routes of the state, the commands, e-stop and reset.
  private var ofLoop: [JSONValue.Member] {
    // The identifier is `kettleLeft` for `kettle/left`.
    let id = System.name.replacing("-", with: "") + title.dropFirst(System.name.titled.replacing(" ", with: "").count)
    let answer = (System.isWithoutLoops ? "As it is now." : "As its loop left it.", reference(whole))
    var paths = [
      path("", "get", operation("get\(title)", System.summary, scope: .read, answer: answer, errors: Self.absent))
    ]
    for command in System.commands {
      let words = command.name.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
      let described = operation(
        "\(id)\(command.items.map { $0.each.titled } ?? "")\(words)", command.meaning, scope: command.scope.scope,
        parameters: command.items.map { [Self.index(of: $0)] } ?? [],
        body: command.parameters.isEmpty ? nil : .body(command.parameters),
        answer: ("Taken by the loop.", reference(done(command.items))), errors: Self.ofLoop)
      paths.append(path("/\(command.path)", "post", described))
    }
    let stops = [
      ("e-stop", "EStop", "Stops every output, latched until a reset."), ("reset", "Reset", "Leaves e-stop and fault."),
    ]
    for (word, ending, meaning) in System.takesOrders ? stops : [] {
      let described = operation(
        "\(id)\(ending)", meaning, scope: .control, answer: ("Taken by the loop.", reference(done)),
        errors: Self.ofLoop)
      paths.append(path("/\(word)", "post", described))
    }
    return paths
  }

  private var settings: JSONValue.Member {
    let rules = System.Rules.keys.filter { $0.items == nil }.map { key in
      JSONValue.Member(name: key.member, value: key.kind.schema(key.meaning, unit: key.unit).orNull)
    }
    let schema: JSONValue = .object([
      "type": .text("object"), "properties": .object(rules), "additionalProperties": .boolean(false),
    ])
    let described = operation(
      "put\(title)Settings",
      "Changes rules until the next start or reload. A wider limit takes effect when the outputs have been safe.",
      scope: .admin,
      body: .object([
        "required": .boolean(true), "content": .object(["application/json": .object(["schema": schema])]),
      ]), answer: ("Taken by the loop.", reference("ReloadDone")), errors: Self.ofLoop)
    return path("/settings", "put", described)
  }

  /// The routes of the desk: each path with its methods.
  private var ofDesk: [JSONValue.Member] {
    var paths: [(path: String, methods: [JSONValue.Member])] = []
    for (path, method, scope, route) in routes {
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

  /// The status codes of errors that the loop causes.
  private static var ofLoop: [String] { absent + ["409", "503"] }
  /// The status code for a system that does not run, which only the part below hand-written documents describes.
  private static var absent: [String] { System.self is any HasDocuments.Type ? ["404"] : [] }

  /// Returns the name of the schema of the answer to a command. The answer to a command for an item contains the item
  /// if the system adopts `AnswersInFull`.
  private func done(_ items: CommandItems?) -> String {
    guard let items, SeenDocument<System>.ofAnswers != nil else { return done }
    return "\(title)\(items.each == System.name ? "" : items.each.titled)CommandDone"
  }

  /// Returns the description of the path parameter that selects the item of a command.
  private static func index(of items: CommandItems) -> JSONValue {
    .object([
      "name": .text("index"), "in": .text("path"), "required": .boolean(true),
      "description": .text("Which \(items.each), from 0."),
      "schema": .object(["type": .text("integer"), "minimum": .whole(0)]),
    ])
  }

  private func path(_ rest: String, _ method: String, _ operation: JSONValue) -> JSONValue.Member {
    .init(name: "/api/\(name)\(rest)", value: .object([.init(name: method, value: operation)]))
  }

  private func reference(_ schema: String) -> JSONValue { .reference("schemas", schema) }

  private func operation(
    _ id: String, _ summary: String, scope: Scope, parameters: [JSONValue] = [], body: JSONValue? = nil,
    answer: (meaning: String, schema: JSONValue), errors: [String] = []
  ) -> JSONValue {
    operation(
      id, summary, scope: scope, parameters: parameters, body: body,
      content: .object(["application/json": .object(["schema": answer.schema])]), answer: answer.meaning, errors: errors
    )
  }

  private func operation(
    _ id: String, _ summary: String, scope: Scope, parameters: [JSONValue], body: JSONValue?, content: JSONValue,
    answer: String, errors: [String]
  ) -> JSONValue {
    .object([
      "operationId": .text(id), "summary": .text(summary), "scope": .text(scope.rawValue),
      "tags": .list([.text(name)]), "parameters": parameters.isEmpty ? nil : .list(parameters), "requestBody": body,
      "errors": .list(errors.map { .text($0) }),
      "responses": .object(["200": .object(["description": .text(answer), "content": content])]),
    ])
  }

  // MARK: schemas

  private var schemas: [JSONValue.Member] {
    let ok = JSONValue.Member(
      name: "ok",
      value: .object([
        "type": .text("boolean"), "description": .text("Always true: the request did what it asked for."),
      ]))
    let at = JSONValue.Member(
      name: "monotonicNs",
      value: .object([
        "type": .text("integer"), "minimum": .whole(0),
        "description": .text("The tick that left it so, CLOCK_MONOTONIC."),
      ]))
    let document = SeenDocument<System>()
    // The state of a system with hand-written documents contains the instant.
    let hasTick = HostedDoor<System>.stateHasTick
    let first = System.isWithoutLoops ? [ok] : hasTick ? [ok] : [ok, at]
    var schemas: [JSONValue.Member] = [
      .init(name: state, value: (hasTick ? [at] : []).before(document.shapes.schema)),
      .init(
        name: whole,
        value: .object([
          "like": .text(state), "required": .list(first.map { .text($0.name) }), "properties": .object(first),
        ])),
    ]
    guard System.takesOrders || !System.commands.isEmpty else { return schemas }
    let verdict = JSONValue.Member(
      name: "verdict", value: .object(["type": .text("string"), "const": .text("accepted")]))
    func answer(_ name: String, _ members: [JSONValue.Member]) {
      schemas.append(.init(name: name, value: .closedObject([ok, verdict] + members + [at])))
    }
    answer(done, answered(document))
    for shape in SeenDocument<System>.ofAnswers?.shapes ?? [] {
      guard case .items(let list) = shape.content, let each = list.each,
        let items = System.commands.lazy.compactMap(\.items).first(where: { $0.each == each })
      else { continue }
      answer(done(items), [.init(name: each, value: list.fields.schema)])
    }
    return schemas
  }

  /// Returns the members of an answer to a command that other answers do not have.
  private func answered(_ document: SeenDocument<System>) -> [JSONValue.Member] {
    if let full = SeenDocument<System>.ofAnswers { return full.shapes.schema["properties"]?.members ?? [] }
    return document.shapes.filter { $0.name == "state" }.compactMap { shape in
      guard case .value(let form) = shape.content else { return nil }
      return JSONValue.Member(name: "state", value: form.plain.schema("After it.", unit: .none))
    }
  }
}

extension [JSONValue.Member] {
  /// Returns the schema of an object that has these members before its own.
  fileprivate func before(_ schema: JSONValue) -> JSONValue {
    let own = schema["properties"]?.members ?? []
    let required = schema["required"]?.items.compactMap(\.string) ?? []
    return .closedObject(self + own, required: map(\.name) + required)
  }
}

extension JSONValue {
  static func reference(_ kind: String, _ name: String) -> JSONValue {
    .object(["$ref": .text("#/components/\(kind)/\(name)")])
  }

  /// The schema with null as an additional value, which stands for an omitted member.
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

  private static let unlimited = [
    JSONValue.decimal(.greatestFiniteMagnitude), JSONValue.decimal(-.greatestFiniteMagnitude),
  ]

  fileprivate static func body(_ parameters: [ParameterDescription]) -> JSONValue {
    let properties = parameters.map { parameter in
      let schema = parameter.kind.schema(parameter.meaning, unit: parameter.unit)
      // A default is left out if there is none, and a limit is left out if every number satisfies it.
      let standard = parameter.standard.map { Member(name: "default", value: $0.json) }
      let limits = schema.members.filter { !unlimited.contains($0.value) }
      return Member(name: parameter.name, value: .object(limits + [standard].compactMap(\.self)))
    }
    let required = parameters.filter(\.isRequired).map(\.name)
    return .object([
      "required": .boolean(!required.isEmpty),
      "content": .object(["application/json": .object(["schema": .closedObject(properties, required: required)])]),
    ])
  }
}
