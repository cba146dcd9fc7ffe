import Service

/// One parameter of a command.
public struct Parameter<Value: Plain>: Sendable {
  let description: ParameterDescription
  let kind: JSONKind<Value>

  /// A number in a range.
  public init(_ name: String, in range: ClosedRange<Value>, unit: Unit = .none, _ meaning: String)
  where Value: PlainNumber {
    let form = ConfigKind(Value.form, from: range.lowerBound, to: range.upperBound)
    description = ParameterDescription(name: name, kind: form, unit: unit, meaning: meaning)
    kind = JSONKind("\(form)") { value in
      guard let plain = value.plain(as: Value.form), let value = Value(plain), range.contains(value) else { return nil }
      return value
    }
  }

  /// A word, a yes or no, a text.
  public init(_ name: String, _ meaning: String) where Value: PlainChoice {
    let form = ConfigKind(Value.form)
    description = ParameterDescription(name: name, kind: form, unit: .none, meaning: meaning)
    kind = JSONKind("\(form)") { value in value.plain(as: Value.form).flatMap { Value($0) } }
  }
}

/// A parameter without its type.
struct ParameterDescription: Sendable {
  let name: String
  let kind: ConfigKind
  let unit: Unit
  let meaning: String
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
  let name: String
  let meaning: String
  let scope: CommandScope
  let makesSafe: Bool
  let parameters: [ParameterDescription]
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
      order(repeat try body.required((each parameter).description.name, (each parameter).kind))
    }
  }
}
