import Service
import Wire

/// The OpenAPI description of one route of a desk.
struct RouteDescription: Sendable {
  enum Content: Sendable {
    case json(JSONValue)
    case bytes(String)
  }

  let meaning: String
  let parameters: [JSONValue]
  /// The schema of the body, or `nil` if the route takes none.
  let body: JSONValue?
  let answers: Content
  /// Whether the loop may refuse what is asked.
  let mayBeRefused: Bool

  init<Input: Settings>(
    meaning: String, input: Input.Type, path: RoutePath, hasBody: Bool, answers: Content, mayBeRefused: Bool = false
  ) {
    (self.meaning, self.answers, self.mayBeRefused) = (meaning, answers, mayBeRefused)
    let (inPath, others) = (
      Input.keys.filter { path.names.contains($0.member) }, Input.keys.filter { !path.names.contains($0.member) }
    )
    parameters =
      inPath.map { Self.parameter($0.member, in: "path", isRequired: true, $0.schema) }
      + (hasBody ? [] : others.map { Self.parameter($0.member, in: "query", isRequired: $0.isRequired, $0.schema) })
    guard hasBody, !others.isEmpty else {
      body = nil
      return
    }
    let required = others.filter(\.isRequired).map(\.member)
    let members = others.map { key in
      let standard = key.isRequired ? [] : [JSONValue.Member(name: "default", value: key.json(Input()))]
      let schema = key.isRequired || key.items != nil ? key.schema : key.schema.orNull
      return JSONValue.Member(name: key.member, value: .object(schema.members + standard))
    }
    body = .object([
      "required": .boolean(!required.isEmpty),
      "content": .object(["application/json": .object(["schema": .closedObject(members, required: required)])]),
    ])
  }

  /// Creates the description of a route that returns the rows of a table.
  init(history rows: RowShape, meaning: String, isCSV: Bool) {
    func query(_ name: String, _ schema: KeyValuePairs<String, JSONValue?>) -> JSONValue {
      Self.parameter(name, in: "query", isRequired: false, .object(schema))
    }
    (self.meaning, mayBeRefused) = (meaning, false)
    parameters =
      [
        query(
          "since",
          [
            "type": .text("string"), "format": .text("date-time"), "description": .text("Rows of then or later."),
          ]),
        query(
          "until",
          ["type": .text("string"), "format": .text("date-time"), "description": .text("Rows of before.")]),
        query("order", ["type": .text("string"), "enum": .list([.text("newest"), .text("oldest")])]),
      ]
      + (isCSV
        ? []
        : [
          query("limit", ["type": .text("integer"), "minimum": .whole(1), "maximum": .whole(1_000)]),
          query(
            "after",
            [
              "type": .text("integer"), "minimum": .whole(1),
              "description": .text("`next` of the page before."),
            ]),
        ])
    body = nil
    let next: JSONValue = .object([
      "type": .list([.text("integer"), .text("null")]),
      "description": .text("`after` of the next page; null: there is none."),
    ])
    answers =
      isCSV
      ? .bytes("text/csv")
      : .json(
        .closedObject([
          .init(name: "ok", value: .object(["type": .text("boolean")])),
          .init(
            name: "rows",
            value: .object(["type": .text("array"), "items": .closedObject(rows.schemas)])),
          .init(name: "next", value: next),
        ]))
  }

  private static func parameter(_ name: String, in place: String, isRequired: Bool, _ schema: JSONValue) -> JSONValue {
    var schema = schema.members
    let meaning = schema.first { $0.name == "description" }?.value
    schema.removeAll { $0.name == "description" }
    return .object([
      "name": .text(name), "in": .text(place), "required": isRequired ? .boolean(true) : nil, "description": meaning,
      "schema": .object(schema),
    ])
  }

  /// The content of the answer.
  var content: JSONValue {
    switch answers {
    case .json(let schema): .object(["application/json": .object(["schema": schema])])
    case .bytes(let type):
      .object([
        .init(
          name: type.split(separator: ";").first.map { String($0) } ?? type,
          value: .object(["schema": .object(["type": .text("string")])]))
      ])
    }
  }

  /// The status codes of errors that do not follow from the route's parameters and its body.
  var errors: [String] {
    if mayBeRefused, body == nil { return ["409", "422", "503"] }
    return body == nil ? ["422", "503"] : ["409", "503"]
  }
}
