/// The way in which the value of a field changes over time, for consumers that store it.
public enum FieldKind: String, Sendable {
  /// The value goes up and down.
  case gauge
  /// The value only grows while the program runs.
  case counter
}

/// The documents that contain a field.
public enum FieldTelling: Sendable {
  /// All documents: the state, and the telemetry ten times a second.
  case always
  /// The value is reported in the state only: by `GET /api/NAME`, on the broker, and in an event once a second.
  case state
  /// The value is reported in `/metrics` only.
  case metrics
}

/// The name of a field's metric.
public enum FieldMetric: Sendable, ExpressibleByStringLiteral {
  /// A name made of the names of the groups, the field and its unit: `tactus_NAME_chip_temperature_celsius`.
  case made
  /// The field has no metric.
  case none
  /// `tactus_NAME_` followed by these words, without the `_total` of a counter. Several fields may share one metric if
  /// each has another value of the label. For a field whose value is a word, the label holds the word; without `label`
  /// it is named like the field.
  case named(String, label: String? = nil, value: String = "")

  /// Creates the name from the words that follow `tactus_NAME_`.
  public init(stringLiteral words: String) { self = .named(words) }
}

/// The entity by which Home Assistant shows a field.
public enum FieldEntity: Sendable {
  /// A sensor with an identifier made of the names of the system, the groups and the field.
  case made
  /// Home Assistant does not show the field.
  case none
  /// A sensor with this identifier and title.
  case named(id: String, title: String)
}

/// One field of a system's state: its external name, unit and meaning, and its place in the snapshot.
///
/// ```swift
/// Field("temperatureCelsius", \.celsius, unit: .celsius, "Temperature of the thermistor; null while unknown.")
/// ```
///
/// A key path may go through computed properties (`\.machine.mode`), so the snapshot contains only the data of the
/// loop: a tick neither stores nor touches the description. `Group` makes an object of several fields, `Items` a list
/// of objects.
public struct Field<State>: Sendable {
  var shape: FieldShape
  let read: @Sendable (State) -> FieldValue
  /// Whether the value is kept over a restart.
  private(set) var isKept = false
  /// Whether the value is stored as soon as it changes, and the loop learns when it is.
  private(set) var isKeptAtOnce = false

  /// Declares a field with a single value.
  ///
  /// - Parameters:
  ///   - name: the name in camel case, ending in the word of the unit if the unit has one.
  ///   - kind: `counter` for a number that only grows.
  ///   - when: the documents that contain the field.
  ///   - metric: the name in `/metrics`, if clients depend on a particular one.
  ///   - entity: the entity in Home Assistant, if users depend on a particular one.
  ///   - meaning: a description in one sentence.
  public init<Value: Plain>(
    _ name: String, _ path: KeyPath<State, Value> & Sendable, unit: Unit = .none, kind: FieldKind = .gauge,
    when: FieldTelling = .always, metric: FieldMetric = .made, entity: FieldEntity = .made, _ meaning: String
  ) {
    declared(
      !["ok", "type", "system", "seq", "monotonicNs"].contains(name), "\(name) is a member of every document")
    declared(
      !["droppedNotices", "droppedAnswers"].contains(name), "\(name) is a metric that every declared system has")
    let form = FieldForm(plain: Value.form, unit: unit, kind: kind, metric: metric, entity: entity)
    shape = FieldShape(name: name, meaning: meaning, when: when, content: .value(form))
    read = { .plain($0[keyPath: path].plain) }
  }

  /// Returns the fields of a part of the state that is a struct of its own type.
  public static func part<Part>(_ path: KeyPath<State, Part> & Sendable, _ fields: [Field<Part>]) -> [Field] {
    fields.map { field in
      var whole = Field(field.shape) { field.read($0[keyPath: path]) }
      (whole.isKept, whole.isKeptAtOnce) = (field.isKept, field.isKeptAtOnce)
      return whole
    }
  }

  /// Declares counters whose names are only known from the state: an object in JSON, and one label in metrics.
  ///
  /// - Parameters:
  ///   - label: the label of the metric that holds the name.
  ///   - metric: the words that follow `tactus_NAME_`, as in `FieldMetric`.
  public init(
    _ name: String, counts path: KeyPath<State, [String: Int64]> & Sendable, label: String, metric: String,
    when: FieldTelling = .always, _ meaning: String
  ) {
    let form = FieldForm(
      plain: Int64.form, unit: .none, kind: .counter, metric: .named(metric, label: label), entity: .none)
    self.init(FieldShape(name: name, meaning: meaning, when: when, content: .counts(form))) { state in
      .counts(state[keyPath: path].sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    }
  }

  init(_ shape: FieldShape, read: @escaping @Sendable (State) -> FieldValue) {
    (self.shape, self.read) = (shape, read)
  }

  /// The same field, whose value is kept over a restart; see `Resumes`. A field of a group or of a list cannot be kept.
  public var kept: Field {
    guard case .value = shape.content else { misdeclared("\(shape.name): only a single value can be kept") }
    var field = self
    field.isKept = true
    return field
  }

  /// The same field, whose value is kept over a restart and counts against a limit, such as the amount dosed today: it is stored as soon as it
  /// changes, and the loop moves its output only when the value is on the disk; see `LoopEnds.storedUpTo`.
  public var keptAtOnce: Field {
    var field = kept
    field.isKeptAtOnce = true
    return field
  }
}

extension Field {
  /// Returns the fields of a group or of the items of a list, none of which is kept, since kept values are found by the field's own name.
  static func unkept(_ fields: [Field], in name: String) -> [Field] {
    for field in fields {
      declared(
        !field.isKept,
        "\(name).\(field.shape.name): a field of a group or of a list cannot be kept; declare it beside, and leave it out here"
      )
    }
    return fields
  }
}

/// Several fields of a part of the state, shown as one object. The part is a struct of its own type.
///
/// ```swift
/// Group("chip", \.servos) { Field("ready", \.isReady, "…"); Field("failures", \.failures, kind: .counter, "…") }
/// ```
///
/// In metrics the name of the group precedes those of its fields.
public struct Group<State, Part>: Sendable {
  let field: Field<State>

  /// Declares a group whose part is always present.
  ///
  /// - Parameters:
  ///   - name: the name of the object in camel case.
  ///   - when: the documents that contain the group; a field of the group with fewer documents keeps its own setting.
  ///   - meaning: a description in one sentence.
  public init(
    _ name: String, _ path: KeyPath<State, Part> & Sendable, when: FieldTelling = .always, _ meaning: String = "",
    @DeclarationBuilder<Field<Part>> fields: () -> [Field<Part>]
  ) {
    let fields = Field.unkept(fields(), in: name)
    field = Field(FieldShape(name: name, meaning: meaning, when: when, content: .group(fields.map(\.shape)))) { state in
      .members(fields.map { $0.read(state[keyPath: path]) })
    }
  }

  /// Declares a group whose part is optional. The object is null while the part is absent.
  public init(
    _ name: String, _ path: KeyPath<State, Part?> & Sendable, when: FieldTelling = .always,
    _ meaning: String = "",
    @DeclarationBuilder<Field<Part>> fields: () -> [Field<Part>]
  ) {
    let fields = Field.unkept(fields(), in: name)
    let shape = FieldShape(
      name: name, meaning: meaning, when: when, content: .group(fields.map(\.shape), mayBeNothing: true))
    field = Field(shape) { state in
      state[keyPath: path].map { part in .members(fields.map { $0.read(part) }) } ?? .nothing
    }
  }
}

/// A list of parts of a state, such as legs or zones. The number of items does not change while the program runs.
///
/// ```swift
/// Items("legs", \.legs, each: "leg") { Field("pulseUs", \.pulse, unit: .microseconds, "…") }
/// ```
///
/// The list is a list of objects in JSON and one label in metrics (`{leg="0"}`). On the broker each item has a state
/// (`leg/0`, or `0` if the system itself has the name of its items), and in Home Assistant each field of each item is a
/// sensor.
public struct Items<State, Parts: RandomAccessCollection & SendableMetatype>: Sendable {
  let field: Field<State>

  /// Declares a list with a fixed number of items, which are numbered by their position.
  ///
  /// - Parameters:
  ///   - name: the name of the list in camel case.
  ///   - each: the name of one item in lower-case letters.
  ///   - first: the number of the first item, 0 or 1.
  ///   - when: the documents that contain the list.
  ///   - meaning: a description in one sentence.
  public init(
    _ name: String, _ path: KeyPath<State, Parts> & Sendable, each: String, from first: Int = 0,
    when: FieldTelling = .always, _ meaning: String = "",
    @DeclarationBuilder<Field<Parts.Element>> fields: () -> [Field<Parts.Element>]
  ) {
    let fields = Field.unkept(fields(), in: name)
    let items = FieldItems(
      fields: fields.map(\.shape), each: each, number: .place(from: first), labels: [(each, nil)])
    field = Field(FieldShape(name: name, meaning: meaning, when: when, content: .items(items))) { state in
      .items(state[keyPath: path].map { part in fields.map { $0.read(part) } })
    }
  }

  /// Declares a list whose items come and go. Each item is identified by a number or a name.
  ///
  /// ```swift
  /// Items("plants", \.plants, each: "plants", numbered: "id", labels: ["plant": "id", "name": "name"]) { Field("id", \.id, "…"); … }
  /// ```
  ///
  /// - Parameters:
  ///   - name: the name of the list in camel case.
  ///   - each: the name of one item in lower-case letters; without it the items have neither topics nor entities.
  ///   - id: the field that identifies an item.
  ///   - labels: the labels of the metrics, each with the name of the field that provides its value.
  ///   - when: the documents that contain the list.
  ///   - meaning: a description in one sentence.
  public init(
    _ name: String, _ path: KeyPath<State, Parts> & Sendable, each: String? = nil, numbered id: String,
    labels: KeyValuePairs<String, String>, when: FieldTelling = .always, _ meaning: String = "",
    @DeclarationBuilder<Field<Parts.Element>> fields: () -> [Field<Parts.Element>]
  ) {
    let fields = Field.unkept(fields(), in: name)
    let items = FieldItems(
      fields: fields.map(\.shape), each: each, number: .field(id), labels: labels.map { ($0.key, $0.value) })
    field = Field(FieldShape(name: name, meaning: meaning, when: when, content: .items(items))) { state in
      .items(state[keyPath: path].map { part in fields.map { $0.read(part) } })
    }
  }
}

extension DeclarationBuilder {
  /// Adds a group to the fields.
  public static func buildExpression<State, Part>(_ group: Group<State, Part>) -> [Element]
  where Element == Field<State> { [group.field] }

  /// Adds a list to the fields.
  public static func buildExpression<State, Parts>(_ items: Items<State, Parts>) -> [Element]
  where Element == Field<State> { [items.field] }
}
