/// How a value moves, for those who store it.
public enum FieldKind: String, Sendable {
  /// Goes up and down.
  case gauge
  /// Only grows while the program runs.
  case counter
}

/// One field of a system's state: what it is called outside, its unit, its meaning, and where it is in the snapshot.
///
///     Field("temperatureCelsius", \.celsius, unit: .celsius, "Temperature of the thermistor; null while unknown.")
///
/// A key path may go through computed properties (`\.machine.mode`), so the snapshot stays the plain data of the loop: nothing of
/// the description is stored in it or touched by a tick.
public struct Field<State>: Sendable {
  let name: String
  let form: PlainForm
  let unit: Unit
  let kind: FieldKind
  let meaning: String
  let read: @Sendable (State) -> PlainValue
  private(set) var isKept = false

  /// - Parameters:
  ///   - name: camel case; ends in the unit's word where it has one.
  ///   - kind: a counter is a number that only grows.
  ///   - meaning: one sentence.
  public init<Value: Plain>(
    _ name: String, _ path: KeyPath<State, Value> & Sendable, unit: Unit = .none, kind: FieldKind = .gauge,
    _ meaning: String
  ) {
    precondition(
      !["ok", "type", "system", "seq", "monotonicNs"].contains(name), "\(name) is a member of every document")
    precondition(
      !["droppedNotices", "droppedAnswers"].contains(name), "\(name) is a metric that every declared system has")
    (self.name, self.form, self.unit, self.kind, self.meaning) = (name, Value.form, unit, kind, meaning)
    read = { $0[keyPath: path].plain }
  }

  /// The fields of a part of the state, which is a struct of its own.
  public static func part<Part>(_ path: KeyPath<State, Part> & Sendable, _ fields: [Field<Part>]) -> [Field] {
    fields.map { Field($0, in: path) }
  }

  private init<Part>(_ field: Field<Part>, in path: KeyPath<State, Part> & Sendable) {
    (name, form, unit, kind, meaning) = (field.name, field.form, field.unit, field.kind, field.meaning)
    read = { field.read($0[keyPath: path]) }
    isKept = field.isKept
  }

  /// The same field, whose value outlives a restart: see `Resumes`.
  public var kept: Field {
    var field = self
    field.isKept = true
    return field
  }
}
