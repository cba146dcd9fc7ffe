import Wire

/// A field without the type of its state.
struct FieldShape: Sendable {
  enum Content: Sendable {
    case value(FieldForm)
    case group([FieldShape], mayBeNothing: Bool = false)
    case items(FieldItems)
  }

  let name: String
  let meaning: String
  let when: FieldTelling
  let content: Content
}

/// What the value of a field looks like.
struct FieldForm: Sendable {
  let plain: PlainForm
  let unit: Unit
  let kind: FieldKind
  let metric: FieldMetric
  let entity: FieldEntity

  var isNumber: Bool { plain.kind == .integer || plain.kind == .number }
}

/// The fields of each item of a list.
struct FieldItems: Sendable {
  let fields: [FieldShape]
  /// What one of them is called: `leg`.
  let each: String
  /// The number of the first one.
  let first: Int
}

/// The value of a field, of the shape that its declaration says.
enum FieldValue: Sendable {
  case plain(PlainValue)
  /// Of a group, in its order.
  case members([FieldValue])
  /// Of a list, in its order, each in the order of its fields.
  case items([[FieldValue]])
  /// A part that is not there.
  case nothing
}

/// Which item of a list something belongs to.
struct FieldItem: Sendable, Equatable {
  /// The list's name.
  let list: String
  /// What one of them is called.
  let each: String
  let number: Int

  /// Where the broker has it below the system: `leg/0`, or `0` if the system is called like one of them.
  func topic(of system: String) -> String { each == system ? "\(number)" : "\(each)/\(number)" }
}

/// One value of a state, and where it is.
struct FieldLeaf: Sendable {
  /// `temperatureCelsius`, `chip.ready`, `legs[0].pulseUs`
  let path: String
  /// The names of the groups that it is in, and its own; of an item's field those within the item.
  let names: [String]
  let item: FieldItem?
  let when: FieldTelling
  let meaning: String
  let form: FieldForm
  let value: PlainValue

  var name: String { names[names.count - 1] }
  /// Whether the state's document has it.
  var isInState: Bool { if case .metrics = when { false } else { true } }
}

extension [FieldShape] {
  /// The values, one after the other. A part that is not there has values that are unknown.
  ///
  /// - Parameter values: `nil` for what there may be: nothing is known, and of each list there is one item.
  func leaves(_ values: [FieldValue]?) -> [FieldLeaf] { leaves(values, path: "", names: [], item: nil) }

  private func leaves(_ values: [FieldValue]?, path: String, names: [String], item: FieldItem?) -> [FieldLeaf] {
    enumerated().flatMap { index, shape -> [FieldLeaf] in
      let place = path.isEmpty ? shape.name : "\(path).\(shape.name)"
      let names = names + [shape.name]
      switch (shape.content, values?[index]) {
      case (.value(let form), let value):
        let plain: PlainValue = if case .plain(let plain)? = value { plain } else { .nothing }
        return [
          FieldLeaf(
            path: place, names: names, item: item, when: shape.when, meaning: shape.meaning, form: form, value: plain)
        ]
      case (.group(let fields, _), .members(let values)?):
        return fields.leaves(values, path: place, names: names, item: item)
      case (.group(let fields, _), _): return fields.leaves(nil, path: place, names: names, item: item)
      case (.items(let items), let value):
        let list: [[FieldValue]?] = if case .items(let list)? = value { list } else { [nil] }
        return list.enumerated().flatMap { index, values in
          let item = FieldItem(list: shape.name, each: items.each, number: items.first + index)
          return items.fields.leaves(values, path: "\(place)[\(index)]", names: [], item: item)
        }
      }
    }
  }

  /// The members of a JSON object.
  ///
  /// - Parameter isTelemetry: without what is in the state alone.
  func members(_ values: [FieldValue], isTelemetry: Bool = false) -> [JSONValue.Member] {
    zip(self, values).compactMap { shape, value in
      switch shape.when {
      case .metrics: return nil
      case .state where isTelemetry: return nil
      case .state, .always:
        return JSONValue.Member(name: shape.name, value: shape.json(value, isTelemetry: isTelemetry))
      }
    }
  }
}

extension FieldShape {
  fileprivate func json(_ value: FieldValue, isTelemetry: Bool) -> JSONValue {
    switch (content, value) {
    case (.value, .plain(let plain)): return plain.json
    case (.group(let fields, _), .members(let values)):
      return .object(fields.members(values, isTelemetry: isTelemetry))
    case (.items(let items), .items(let list)):
      return .list(list.map { .object(items.fields.members($0, isTelemetry: isTelemetry)) })
    default: return .null
    }
  }

  /// JSON Schema 2020-12.
  var schema: JSONValue {
    switch content {
    case .value(let form): form.plain.schema(meaning, unit: form.unit)
    case .group(let fields, let mayBeNothing):
      fields.schema.described(meaning, type: mayBeNothing ? .list([.text("object"), .text("null")]) : .text("object"))
    case .items(let items):
      JSONValue.object([
        "type": .text("array"), "description": meaning.isEmpty ? nil : .text(meaning), "items": items.fields.schema,
      ])
    }
  }
}

extension FieldLeaf {
  /// One of `fields` of `GET /api/systems`; its name is where the state's document has it.
  var declaration: JSONValue {
    .object([
      "name": .text(path), "meaning": .text(meaning), "type": .text(form.plain.typeName),
      "choices": form.plain.choices.map { .list($0.map { .text($0) }) }, "unit": .text(form.unit.sign),
      "nullable": .boolean(form.plain.mayBeNothing), "kind": .text(form.kind.rawValue),
    ])
  }
}

extension [FieldShape] {
  /// An object that has these members and nothing else. What is not in every document is not required.
  var schema: JSONValue {
    let told = filter { if case .metrics = $0.when { false } else { true } }
    let required = told.filter { if case .always = $0.when { true } else { false } }
    return .closedObject(
      told.map { JSONValue.Member(name: $0.name, value: $0.schema) }, required: required.map(\.name))
  }
}

extension JSONValue {
  fileprivate func described(_ meaning: String, type: JSONValue) -> JSONValue {
    let description = meaning.isEmpty ? [] : [Member(name: "description", value: .text(meaning))]
    return .object(members.map { $0.name == "type" ? Member(name: "type", value: type) : $0 } + description)
  }

  /// An object that has these members and nothing else; all of them, unless said otherwise.
  static func closedObject(_ properties: [Member], required: [String]? = nil) -> JSONValue {
    .object([
      "type": .text("object"), "required": .list((required ?? properties.map(\.name)).map { .text($0) }),
      "properties": .object(properties), "additionalProperties": .boolean(false),
    ])
  }
}
