import Service

/// One parameter of a command.
public struct Parameter<Value: Plain>: Sendable {
  let description: ParameterDescription
  let kind: JSONKind<Value>
  let standard: Value?

  /// Declares a number in a range.
  ///
  /// - Parameters:
  ///   - standard: the value if a request does not give the parameter; without it the parameter is required.
  ///   - example: an example value for help; unless given it is the default, or else the middle of the range.
  public init(
    _ name: String, in range: ClosedRange<Value>, default standard: Value? = nil, unit: Unit = .none,
    example: Value? = nil, _ meaning: String
  )
  where Value: PlainNumber {
    declared(standard.map(range.contains) ?? true, "\(name): its default is out of its range")
    let form = ConfigKind(range)
    description = ParameterDescription(
      name: name, kind: form, unit: unit, meaning: meaning, isRequired: standard == nil, standard: standard?.plain,
      given: example?.plain)
    kind = JSONKind("\(form)") { value in
      guard let plain = value.plain(as: form), let value = Value(plain), range.contains(value) else { return nil }
      return value
    }
    self.standard = standard
  }

  /// Declares a finite number that a request may omit or give as null.
  public init(optional name: String, unit: Unit = .none, _ meaning: String) where Value == Double? {
    let form = Double.form.kind
    description = ParameterDescription(
      name: name, kind: form, unit: unit, meaning: meaning, isRequired: false, standard: nil)
    kind = JSONKind("a number") { value in value.plain(as: form).flatMap { Double($0) }.map { .some($0) } }
    standard = .some(nil)
  }

  /// Declares a word, a boolean or a text. An empty text is refused unless it is the default.
  ///
  /// - Parameter standard: the value if a request does not give the parameter; without it the parameter is required.
  public init(_ name: String, default standard: Value? = nil, _ meaning: String) where Value: PlainChoice {
    let form = Value.form.kind
    description = ParameterDescription(
      name: name, kind: form, unit: .none, meaning: meaning, isRequired: standard == nil, standard: standard?.plain)
    let mayBeEmpty = standard?.plain == .text("")
    kind = JSONKind("\(form)") { value in
      value.plain(as: form).flatMap { !mayBeEmpty && $0 == .text("") ? nil : Value($0) }
    }
    self.standard = standard
  }

  func value(in body: inout JSONReader) throws(APIError) -> Value {
    guard let standard else { return try body.required(description.name, kind) }
    return try body.optional(description.name, kind) ?? standard
  }
}

/// The description of a parameter without its type.
package struct ParameterDescription: Sendable {
  package let name: String
  package let kind: ConfigKind
  let unit: Unit
  let meaning: String
  /// Whether a request must give the parameter.
  let isRequired: Bool
  /// The value if a request does not give the parameter, or `nil` if it has none then.
  let standard: ConfigValue?
  /// An example value, or `nil` if the default and the range serve as the example.
  var given: ConfigValue?
  /// Whether examples omit the parameter.
  var isOptional: Bool { !isRequired && standard == nil }

  /// An allowed value as JSON, for examples.
  var example: String { (given ?? standard)?.json.compact ?? kind.example }
}

/// The permission that a token needs for a command.
public enum CommandScope: String, Sendable {
  /// Permission to operate actuators.
  case control
  /// Permission to change the daemon.
  case admin
}

/// A command of a system, which turns the body of a request into an order for the loop.
///
/// ```swift
/// Command("set", "Holds a temperature.", Parameter("targetCelsius", in: 20...80, unit: .celsius, "…")) { .set(celsius: $0) }
/// ```
///
/// It becomes `POST /api/NAME/set`, `tactus call NAME set targetCelsius=40`, a topic on MQTT, and a control on the
/// page. The client is answered when the loop has taken the order.
public struct Command<Order: Sendable>: Sendable {
  package let name: String
  let meaning: String
  let scope: CommandScope
  let makesSafe: @Sendable (Order) -> Bool
  /// Whether every order of the command can only make the system safer, for the page.
  let alwaysMakesSafe: Bool
  /// The parameters in the order of the declaration.
  package let parameters: [ParameterDescription]
  /// Whether a request may have no body, because every parameter has a default.
  var mayLackBody: Bool { !parameters.contains(where: \.isRequired) }
  /// The list whose items the command is for, or `nil` if the command is for the system.
  let items: CommandItems?
  /// The path of the command below `/api/NAME/`.
  var path: String { items == nil ? name : "{index}/\(name)" }
  /// The path of the command below `/api/NAME/` for the first item.
  var examplePath: String { items == nil ? name : "0/\(name)" }
  let read: @Sendable (inout JSONReader, _ index: Int) throws(APIError) -> Order

  /// Declares a command.
  ///
  /// - Parameters:
  ///   - name: the name in lower-case words with dashes between them. `e-stop` and `reset` are taken, since every
  ///     system has them.
  ///   - makesSafe: whether the command can only make the system safer. Such a command never expires, and queue places
  ///     are reserved for it.
  ///   - makesSafeIf: the property that states which orders can only make the system safer, such as a speed of 0, if not
  ///     all of them do.
  ///   - meaning: a description in one sentence.
  ///   - order: makes the order from the values of the parameters.
  public init<each Value: Plain>(
    _ name: String, scope: CommandScope = .control, makesSafe: Bool = false,
    makesSafeIf: (KeyPath<Order, Bool> & Sendable)? = nil, _ meaning: String,
    _ parameter: repeat Parameter<each Value>, order: @escaping @Sendable (repeat each Value) -> Order
  ) {
    declared(!["e-stop", "reset"].contains(name), "every system has \(name) already")
    (self.name, self.meaning, self.scope, alwaysMakesSafe, items) = (name, meaning, scope, makesSafe, nil)
    self.makesSafe = { order in makesSafe || makesSafeIf.map { order[keyPath: $0] } ?? false }
    var parameters: [ParameterDescription] = []
    for parameter in repeat each parameter { parameters.append(parameter.description) }
    self.parameters = parameters
    read = { (body: inout JSONReader, _) throws(APIError) in
      order(repeat try (each parameter).value(in: &body))
    }
  }

  /// Creates a command whose body is read by the given function.
  init(
    _ name: String, scope: CommandScope, makesSafe: Bool, makesSafeIf: (KeyPath<Order, Bool> & Sendable)?,
    _ meaning: String, _ parameters: [ParameterDescription],
    _ read: @escaping @Sendable (inout JSONReader) throws(APIError) -> Order
  ) {
    (self.name, self.meaning, self.scope, alwaysMakesSafe) = (name, meaning, scope, makesSafe)
    (self.parameters, items) = (parameters, nil)
    self.makesSafe = { order in makesSafe || makesSafeIf.map { order[keyPath: $0] } ?? false }
    self.read = { (body: inout JSONReader, _) throws(APIError) in try read(&body) }
  }

  /// Creates a command for the items of a list; see `ItemCommand`.
  init(
    _ name: String, _ items: CommandItems, _ scope: CommandScope, makesSafe: Bool, _ meaning: String,
    _ parameters: [ParameterDescription], read: @escaping @Sendable (inout JSONReader, Int) throws(APIError) -> Order
  ) {
    (self.name, self.items, self.scope, self.meaning, self.parameters) = (name, items, scope, meaning, parameters)
    (alwaysMakesSafe, self.makesSafe, self.read) = (makesSafe, { _ in makesSafe }, read)
  }
}
