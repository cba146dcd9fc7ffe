import Service
import Wire

/// What a route answers, by its fields. A struct with `Key`s needs nothing more: its fields are its keys.
///
///     struct Summary: Answers {
///       let runs: Int
///       static var fields: [Field<Summary>] { Field("runs", \.runs, "Runs so far.") }
///     }
///     struct Run: Settings, Answers { … }
public protocol Answers: Sendable {
  /// The members of the document, beside `ok`.
  @DeclarationBuilder<Field<Self>> static var fields: [Field<Self>] { get }
}

extension Answers where Self: Settings {
  /// None besides its keys, whose names are in camel case.
  public static var fields: [Field<Self>] { [] }
}

/// `{"ok":true}`: it was done, and there is nothing else to say.
public struct Done: Answers {
  /// Says that it was done.
  public init() {}
  public static var fields: [Field<Done>] { [] }
}

extension Answers {
  /// As JSON, with `ok`.
  var document: JSONValue {
    let keys = (self as? any Settings).map { $0.members } ?? []
    return .object(
      [JSONValue.Member(name: "ok", value: .boolean(true))] + keys
        + Self.fields.map(\.shape).members(Self.fields.map { $0.read(self) }))
  }

  /// Its schema.
  static var schema: JSONValue {
    let keys = (Self.self as? any Settings.Type).map { $0.memberSchemas } ?? []
    return .closedObject(
      [JSONValue.Member(name: "ok", value: .object(["type": .text("boolean")]))] + keys
        + fields.map { JSONValue.Member(name: $0.shape.name, value: $0.shape.schema) })
  }
}
