/// How a value moves, for those who store it.
public enum FieldKind: String, Sendable {
  /// Goes up and down.
  case gauge
  /// Only grows while the program runs.
  case counter
}

/// Which documents have a field.
public enum FieldTelling: Sendable {
  /// All of them: the state, and telemetry ten times a second.
  case always
  /// The state alone: `GET /api/NAME`, the broker, an event once a second.
  case state
  /// `/metrics` alone.
  case metrics
}

/// What a field's metric is called.
public enum FieldMetric: Sendable, ExpressibleByStringLiteral {
  /// What the names of the groups, of the field and of its unit make: `tactus_NAME_chip_temperature_celsius`.
  case made
  /// There is none.
  case none
  /// `tactus_NAME_` and these words, without a counter's `_total`; several fields may share one if each has another value of this label. Of a
  /// word it is the label that has the word, which is called like the field otherwise.
  case named(String, label: String? = nil, value: String = "")

  /// The words behind `tactus_NAME_`.
  public init(stringLiteral words: String) { self = .named(words) }
}

/// What Home Assistant has of a field.
public enum FieldEntity: Sendable {
  /// A sensor whose identifier is made of the names of the system, the groups and the field.
  case made
  /// Nothing.
  case none
  /// A sensor with this identifier and title.
  case named(id: String, title: String)
}

/// One field of a system's state: what it is called outside, its unit, its meaning, and where it is in the snapshot.
///
///     Field("temperatureCelsius", \.celsius, unit: .celsius, "Temperature of the thermistor; null while unknown.")
///
/// A key path may go through computed properties (`\.machine.mode`), so the snapshot stays the plain data of the loop: nothing of
/// the description is stored in it or touched by a tick. `Group` makes an object of several fields, `Items` a list of objects.
public struct Field<State>: Sendable {
  let shape: FieldShape
  let read: @Sendable (State) -> FieldValue
  /// Whether the value outlives a restart.
  private(set) var isKept = false

  /// - Parameters:
  ///   - name: camel case; ends in the unit's word where it has one.
  ///   - kind: a counter is a number that only grows.
  ///   - when: which documents have it.
  ///   - metric: its name in `/metrics`, where one is depended on.
  ///   - entity: what Home Assistant has of it, where that is depended on.
  ///   - meaning: one sentence.
  public init<Value: Plain>(
    _ name: String, _ path: KeyPath<State, Value> & Sendable, unit: Unit = .none, kind: FieldKind = .gauge,
    when: FieldTelling = .always, metric: FieldMetric = .made, entity: FieldEntity = .made, _ meaning: String
  ) {
    precondition(
      !["ok", "type", "system", "seq", "monotonicNs"].contains(name), "\(name) is a member of every document")
    precondition(
      !["droppedNotices", "droppedAnswers"].contains(name), "\(name) is a metric that every declared system has")
    let form = FieldForm(plain: Value.form, unit: unit, kind: kind, metric: metric, entity: entity)
    shape = FieldShape(name: name, meaning: meaning, when: when, content: .value(form))
    read = { .plain($0[keyPath: path].plain) }
  }

  /// The fields of a part of the state, which is a struct of its own.
  public static func part<Part>(_ path: KeyPath<State, Part> & Sendable, _ fields: [Field<Part>]) -> [Field] {
    fields.map { field in
      var whole = Field(field.shape) { field.read($0[keyPath: path]) }
      whole.isKept = field.isKept
      return whole
    }
  }

  init(_ shape: FieldShape, read: @escaping @Sendable (State) -> FieldValue) {
    (self.shape, self.read) = (shape, read)
  }

  /// The same field, whose value outlives a restart: see `Resumes`. A field of a group or of a list cannot be kept.
  public var kept: Field {
    guard case .value = shape.content else { preconditionFailure("\(shape.name): only a single value can be kept") }
    var field = self
    field.isKept = true
    return field
  }
}

/// Several fields of a state as one object: of a part of it that is a struct of its own.
///
///     Group("chip", \.servos) { Field("ready", \.isReady, "…"); Field("failures", \.failures, kind: .counter, "…") }
///
/// In metrics the name stands before those of its fields.
public struct Group<State, Part>: Sendable {
  let field: Field<State>

  /// - Parameters:
  ///   - name: of the object, camel case.
  ///   - when: which documents have it; a field that is told less often is not told more often for that.
  ///   - meaning: one sentence.
  public init(
    _ name: String, _ path: KeyPath<State, Part> & Sendable, when: FieldTelling = .always, _ meaning: String = "",
    @DeclarationBuilder<Field<Part>> fields: () -> [Field<Part>]
  ) {
    let fields = fields()
    field = Field(FieldShape(name: name, meaning: meaning, when: when, content: .group(fields.map(\.shape)))) { state in
      .members(fields.map { $0.read(state[keyPath: path]) })
    }
  }

  /// A part that is not always there: the object is null then.
  public init(
    _ name: String, _ path: KeyPath<State, Part?> & Sendable, when: FieldTelling = .always, _ meaning: String = "",
    @DeclarationBuilder<Field<Part>> fields: () -> [Field<Part>]
  ) {
    let fields = fields()
    let shape = FieldShape(
      name: name, meaning: meaning, when: when, content: .group(fields.map(\.shape), mayBeNothing: true))
    field = Field(shape) { state in
      state[keyPath: path].map { part in .members(fields.map { $0.read(part) }) } ?? .nothing
    }
  }
}

/// A list of parts of a state: legs, zones. Their number does not change while the program runs.
///
///     Items("legs", \.legs, each: "leg") { Field("pulseUs", \.pulse, unit: .microseconds, "…") }
///
/// It is a list of objects in JSON, one label in metrics (`{leg="0"}`), on the broker a state of each (`leg/0`, or `0` if the system itself is called like
/// one of them), in Home Assistant a sensor for each field of each.
public struct Items<State, Parts: RandomAccessCollection & SendableMetatype>: Sendable {
  let field: Field<State>

  /// - Parameters:
  ///   - name: of the list, camel case.
  ///   - each: what one of them is called, lower-case letters.
  ///   - first: the number of the first one: 0 or 1.
  ///   - when: which documents have it.
  ///   - meaning: one sentence.
  public init(
    _ name: String, _ path: KeyPath<State, Parts> & Sendable, each: String, from first: Int = 0,
    when: FieldTelling = .always, _ meaning: String = "",
    @DeclarationBuilder<Field<Parts.Element>> fields: () -> [Field<Parts.Element>]
  ) {
    let fields = fields()
    let items = FieldItems(fields: fields.map(\.shape), each: each, first: first)
    field = Field(FieldShape(name: name, meaning: meaning, when: when, content: .items(items))) { state in
      .items(state[keyPath: path].map { part in fields.map { $0.read(part) } })
    }
  }
}

extension DeclarationBuilder {
  /// A group among fields.
  public static func buildExpression<State, Part>(_ group: Group<State, Part>) -> [Element]
  where Element == Field<State> { [group.field] }

  /// A list among fields.
  public static func buildExpression<State, Parts>(_ items: Items<State, Parts>) -> [Element]
  where Element == Field<State> { [items.field] }
}
