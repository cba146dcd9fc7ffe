@_spi(FromOutside) import Conversions
import Wire

/// The description of a field without the type of its state.
struct FieldShape: Sendable {
  enum Content: Sendable {
    case value(FieldForm)
    case group([FieldShape], mayBeNothing: Bool = false)
    case items(FieldItems)
    /// The form of a list of plain values.
    case list(PlainForm)
    /// Numbers whose names are only known from the state.
    case counts(FieldForm)
  }

  let name: String
  let meaning: String
  let when: FieldTelling
  var content: Content
  /// Whether documents omit the field while it is unknown, instead of writing null.
  var isLeftOutIfNil = false
}

/// The form of a field's value.
struct FieldForm: Sendable {
  let plain: PlainForm
  let unit: Unit
  let kind: FieldKind
  var metric: FieldMetric
  let entity: FieldEntity

  var isNumber: Bool { plain.kind.bounds != nil }
  /// The allowed words, or `nil` if the value is not a word.
  var choices: [String]? { plain.kind.choices }

  /// Returns the same form with another value of the metric's label.
  func labelled(_ value: String) -> FieldForm {
    guard case .named(let words, let label, _) = metric else { return self }
    return FieldForm(
      plain: plain, unit: unit, kind: kind, metric: .named(words, label: label, value: value), entity: entity)
  }
}

/// The fields of each item of a list.
struct FieldItems: Sendable {
  var fields: [FieldShape]
  /// The name of one item, such as `leg`, or `nil` if the broker and Home Assistant have only the list as a whole.
  let each: String?
  let number: Number
  /// The labels of an item's metrics, each with the name of the field that provides its value; `nil` if the item's
  /// number is the value.
  let labels: [(name: String, field: String?)]

  /// The source of an item's number.
  enum Number: Sendable {
    /// The position of the item, counted from the given number.
    case place(from: Int)
    /// The value of the field with the given name.
    case field(String)
  }

  /// Returns the item at an index of a list.
  ///
  /// - Parameter values: the values of the item's fields, or `nil` if no item is known.
  func item(_ index: Int, _ values: [FieldValue]?, of list: String) -> FieldItem {
    func plain(_ name: String) -> ConfigValue? {
      guard let place = fields.firstIndex(where: { $0.name == name }) else {
        misdeclared("\(list): no field is called \(name)")
      }
      if case .plain(let value)? = values?[place] { return value }
      return nil
    }
    let own =
      switch number {
      case .place(let first): "\(first + index)"
      case .field(let name): plain(name)?.plainText ?? ""
      }
    return FieldItem(
      list: list, each: each, number: own,
      labels: labels.map { ($0.name, $0.field.map { plain($0)?.plainText ?? "" } ?? own) })
  }
}

/// The value of a field, in the shape that the declaration of the field describes.
enum FieldValue: Sendable {
  /// A single value, or `nil` if it is unknown.
  case plain(ConfigValue?)
  /// The values of a group in the order of its fields.
  case members([FieldValue])
  /// The items of a list in their order, each with the values in the order of its fields.
  case items([[FieldValue]])
  /// The values of a list of plain values.
  case list([ConfigValue?])
  /// The counts by name, in their order.
  case counts([(name: String, count: Int64)])
  /// The value of a part that is absent.
  case nothing
}

extension FieldValue {
  fileprivate var isNothing: Bool {
    switch self {
    case .nothing, .plain(nil): true
    case .plain, .members, .items, .list, .counts: false
    }
  }
}

/// The item of a list to which a value belongs.
struct FieldItem: Sendable {
  /// The name of the list.
  let list: String
  /// The name of one item, or `nil` if the items have no topics.
  let each: String?
  let number: String
  /// The labels of the item's metrics.
  let labels: [(name: String, value: String)]

  /// Returns the item's topic below the topic of the system: `leg/0`, or `0` if the system has the name of its items;
  /// `nil` if the items have no topics.
  func topic(of system: String) -> String? { each.map { $0 == system ? number : "\($0)/\(number)" } }
}

/// One value of a state together with its path.
struct FieldLeaf: Sendable {
  /// The path of the value in the document, such as `temperatureCelsius`, `chip.ready` or `legs[0].pulseUs`.
  let path: String
  /// The names of the groups that contain the value, followed by the name of the field; for an item's field only the
  /// names within the item.
  let names: [String]
  let item: FieldItem?
  let when: FieldTelling
  let meaning: String
  let form: FieldForm
  /// The value, or `nil` if it is unknown.
  let value: ConfigValue?
  /// Whether the shape is one of the counts of a field. The number and the names of such counts are known only from the state.
  var isOfMany = false

  var name: String { names[names.count - 1] }
  /// Whether the state document contains the value.
  var isInState: Bool { if case .metrics = when { false } else { true } }
}

extension [FieldShape] {
  /// Returns the values of all fields in order. The values of an absent part are unknown.
  ///
  /// - Parameter values: the values of the fields, or `nil` to list the values that are possible: all are unknown then,
  ///   and each list has one item.
  func leaves(_ values: [FieldValue]?) -> [FieldLeaf] { leaves(values, path: "", names: [], item: nil) }

  private func leaves(_ values: [FieldValue]?, path: String, names: [String], item: FieldItem?) -> [FieldLeaf] {
    enumerated().flatMap { index, shape -> [FieldLeaf] in
      let place = path.isEmpty ? shape.name : "\(path).\(shape.name)"
      let names = names + [shape.name]
      switch (shape.content, values?[index]) {
      case (.value(let form), let value):
        let plain: ConfigValue? = if case .plain(let plain)? = value { plain } else { nil }
        return [
          FieldLeaf(
            path: place, names: names, item: item, when: shape.when, meaning: shape.meaning,
            form: form, value: plain)
        ]
      case (.group(let fields, _), .members(let values)?):
        return fields.leaves(values, path: place, names: names, item: item)
      case (.group(let fields, _), _):
        return fields.leaves(nil, path: place, names: names, item: item)
      case (.items(let items), let value):
        let list: [[FieldValue]?] = if case .items(let list)? = value { list } else { [nil] }
        return list.enumerated().flatMap { index, values in
          let item = items.item(index, values, of: shape.name)
          return items.fields.leaves(values, path: "\(place)[\(index)]", names: [], item: item)
        }
      // A list is not a single value.
      case (.list, _): return []
      case (.counts(let form), let value):
        func leaf(_ name: String, _ value: ConfigValue?) -> FieldLeaf {
          FieldLeaf(
            path: "\(place).\(name)", names: names, item: item, when: shape.when,
            meaning: shape.meaning, form: form.labelled(name), value: value, isOfMany: true)
        }
        guard case .counts(let counts)? = value else { return [leaf("", nil)] }
        return counts.map { leaf($0.name, .integer(Int($0.count))) }
      }
    }
  }

  /// Returns the members of a JSON object.
  ///
  /// - Parameter isTelemetry: whether to omit the fields that only the state contains.
  func members(_ values: [FieldValue], isTelemetry: Bool = false) -> [JSONValue.Member] {
    zip(self, values).compactMap { shape, value in
      switch shape.when {
      case .metrics: return nil
      case .state where isTelemetry: return nil
      case .state, .always:
        if shape.isLeftOutIfNil, value.isNothing { return nil }
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
    case (.list, .list(let values)): return .list(values.map(\.json))
    case (.counts, .counts(let counts)):
      return .object(counts.map { JSONValue.Member(name: $0.name, value: .number("\($0.count)")) })
    default: return .null
    }
  }

  /// The JSON Schema (2020-12) of the field. A field that is left out while it is unknown is never null.
  var schema: JSONValue { isLeftOutIfNil ? valueSchema.withoutNull : valueSchema }

  private var valueSchema: JSONValue {
    switch content {
    case .value(let form):
      form.kind == .counter
        ? .object(form.plain.schema(meaning, unit: form.unit).members + [.init(name: "minimum", value: .whole(0))])
        : form.plain.schema(meaning, unit: form.unit)
    case .group(let fields, let mayBeNothing):
      fields.schema.described(meaning, type: mayBeNothing ? .list([.text("object"), .text("null")]) : .text("object"))
    case .items(let items):
      JSONValue.object([
        "type": .text("array"), "description": meaning.isEmpty ? nil : .text(meaning), "items": items.fields.schema,
      ])
    case .list(let form):
      JSONValue.object([
        "type": form.mayBeNothing ? .list([.text("array"), .text("null")]) : .text("array"),
        "description": .text(meaning),
        "items": .object(["type": .text(form.kind.typeName)]),
      ])
    case .counts:
      .object([
        "type": .text("object"), "description": .text(meaning),
        "additionalProperties": .object(["type": .text("integer"), "minimum": .whole(0)]),
      ])
    }
  }
}

extension FieldLeaf {
  /// The field's entry in `fields` of `GET /api/systems`; its name is the path in the state document.
  var declaration: JSONValue {
    .object([
      "name": .text(path), "meaning": .text(meaning), "type": .text(form.plain.kind.typeName),
      "choices": form.choices.map { .list($0.map { .text($0) }) }, "unit": .text(form.unit.sign),
      "nullable": .boolean(form.plain.mayBeNothing), "kind": .text(form.kind.rawValue),
    ])
  }
}

extension [FieldShape] {
  /// The JSON Schema of an object that has these fields as members and no others. Fields that the state omits while they
  /// are unknown are not required.
  var schema: JSONValue {
    let told = filter { if case .metrics = $0.when { false } else { true } }
    let required = told.filter { !$0.isLeftOutIfNil }
    return .closedObject(
      told.map { JSONValue.Member(name: $0.name, value: $0.schema) }, required: required.map(\.name))
  }
}

extension JSONValue {
  /// The schema without null as a value.
  fileprivate var withoutNull: JSONValue {
    .object(
      members.map { member in
        let others = member.value.items.filter { $0 != .text("null") && $0 != .null }
        switch member.name {
        case "type" where !others.isEmpty: return Member(name: member.name, value: others[0])
        case "enum": return Member(name: member.name, value: .list(others))
        default: return member
        }
      })
  }

  fileprivate func described(_ meaning: String, type: JSONValue) -> JSONValue {
    let description = meaning.isEmpty ? [] : [Member(name: "description", value: .text(meaning))]
    return .object(members.map { $0.name == "type" ? Member(name: "type", value: type) : $0 } + description)
  }

  /// Returns the JSON Schema of an object that has these members and no others. All members are required unless
  /// `required` is given.
  static func closedObject(_ properties: [Member], required: [String]? = nil) -> JSONValue {
    .object([
      "type": .text("object"), "required": .list((required ?? properties.map(\.name)).map { .text($0) }),
      "properties": .object(properties), "additionalProperties": .boolean(false),
    ])
  }
}
