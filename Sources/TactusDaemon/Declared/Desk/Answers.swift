import Service
import Wire

/// The answer of a route, described by its fields. A struct with `Key`s needs no fields: its keys are its fields.
///
/// ```swift
/// struct Summary: Answers {
///   let runs: Int
///   static var fields: [Field<Summary>] { Field("runs", \.runs, "Runs so far.") }
/// }
/// struct Run: Settings, Answers { … }
/// ```
public protocol Answers: Sendable {
  /// The members of the document besides `ok`.
  @DeclarationBuilder<Field<Self>> static var fields: [Field<Self>] { get }
}

extension Answers where Self: Settings {
  /// No fields besides the keys, whose names are in camel case.
  public static var fields: [Field<Self>] { [] }
}

/// The answer `{"ok":true}`, for a request that succeeded and has no result.
public struct Done: Answers {
  /// Creates the answer.
  public init() {}
  public static var fields: [Field<Done>] { [] }
}

extension Answers {
  /// The answer as a JSON object with the member `ok`.
  var document: JSONValue {
    let keys = (self as? any Settings).map { $0.members } ?? []
    return .object(
      [JSONValue.Member(name: "ok", value: .boolean(true))] + keys
        + Self.fields.map(\.shape).members(Self.fields.map { $0.read(self) }))
  }

  /// The JSON Schema of the answer.
  static var schema: JSONValue {
    let keys = (Self.self as? any Settings.Type).map { $0.memberSchemas } ?? []
    return .closedObject(
      [JSONValue.Member(name: "ok", value: .object(["type": .text("boolean")]))] + keys
        + fields.map { JSONValue.Member(name: $0.shape.name, value: $0.shape.schema) })
  }
}

extension APIResponse {
  /// Creates a JSON response from an answer.
  ///
  /// - Parameters:
  ///   - status: the status, 200 unless given.
  ///   - logValue: the text in the log for a command, or `nil` to log no text.
  public init(_ answer: some Answers, status: HTTPStatus? = nil, logValue: String? = nil) {
    self.init(contentType: "application/json", body: answer.document.bytes, logValue: logValue)
    if let status { self.status = status }
  }
}
