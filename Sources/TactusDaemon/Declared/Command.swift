import Service

/// One parameter of a command.
public struct Parameter<Value: Plain>: Sendable {
  let description: ParameterDescription
  let kind: JSONKind<Value>
  let standard: Value?

  /// A number in a range.
  ///
  /// - Parameter standard: its value when a request does not have it. Unless given, each request must.
  public init(
    _ name: String, in range: ClosedRange<Value>, default standard: Value? = nil, unit: Unit = .none, _ meaning: String
  )
  where Value: PlainNumber {
    precondition(standard.map(range.contains) ?? true, "\(name): its default is out of its range")
    let form = ConfigKind(Value.form, from: range.lowerBound, to: range.upperBound)
    description = ParameterDescription(name: name, kind: form, unit: unit, meaning: meaning, standard: standard?.plain)
    kind = JSONKind("\(form)") { value in
      guard let plain = value.plain(as: Value.form), let value = Value(plain), range.contains(value) else { return nil }
      return value
    }
    self.standard = standard
  }

  /// A word, a yes or no, a text.
  ///
  /// - Parameter standard: its value when a request does not have it. Unless given, each request must.
  public init(_ name: String, default standard: Value? = nil, _ meaning: String) where Value: PlainChoice {
    let form = ConfigKind(Value.form)
    description = ParameterDescription(name: name, kind: form, unit: .none, meaning: meaning, standard: standard?.plain)
    kind = JSONKind("\(form)") { value in value.plain(as: Value.form).flatMap { Value($0) } }
    self.standard = standard
  }

  func value(in body: inout JSONReader) throws(APIError) -> Value {
    guard let standard else { return try body.required(description.name, kind) }
    return try body.optional(description.name, kind) ?? standard
  }
}

/// A parameter without its type.
package struct ParameterDescription: Sendable {
  package let name: String
  package let kind: ConfigKind
  let unit: Unit
  let meaning: String
  /// What it is when a request does not have it, or `nil` if it must.
  let standard: PlainValue?

  /// A value that is allowed, as JSON.
  var example: String { standard.map { String(decoding: $0.json.bytes, as: UTF8.self) } ?? kind.example }
}

/// What a token must allow.
public enum CommandScope: String, Sendable {
  /// Move something.
  case control
  /// Change the daemon.
  case admin
}

/// A command of a system: from a body to an order for the loop.
///
///     Command("set", "Holds a temperature.", Parameter("targetCelsius", in: 20...80, unit: .celsius, "…")) { .set(celsius: $0) }
///
/// It is `POST /api/NAME/set`, `tactus call NAME set targetCelsius=40`, a message on MQTT, and a control on the page. Who asked is answered when the
/// loop has taken it.
public struct Command<Order: Sendable>: Sendable {
  package let name: String
  let meaning: String
  let scope: CommandScope
  let makesSafe: Bool
  /// In the order of the declaration.
  package let parameters: [ParameterDescription]
  /// Whether a request without a body is one: there is a default for each parameter.
  var mayLackBody: Bool { parameters.allSatisfy { $0.standard != nil } }
  let read: @Sendable (inout JSONReader) throws(APIError) -> Order

  /// - Parameters:
  ///   - name: lower-case words with dashes between them; `e-stop` and `reset` every system has already.
  ///   - makesSafe: it can only make the system safer: it is never stale, and places are kept for it.
  ///   - meaning: one sentence.
  ///   - order: what the loop is asked, of the parameters' values.
  public init<each Value: Plain>(
    _ name: String, scope: CommandScope = .control, makesSafe: Bool = false, _ meaning: String,
    _ parameter: repeat Parameter<each Value>, order: @escaping @Sendable (repeat each Value) -> Order
  ) {
    precondition(!["e-stop", "reset"].contains(name), "every system has \(name) already")
    (self.name, self.meaning, self.scope, self.makesSafe) = (name, meaning, scope, makesSafe)
    var parameters: [ParameterDescription] = []
    for parameter in repeat each parameter { parameters.append(parameter.description) }
    self.parameters = parameters
    read = { (body: inout JSONReader) throws(APIError) in
      order(repeat try (each parameter).value(in: &body))
    }
  }
}
