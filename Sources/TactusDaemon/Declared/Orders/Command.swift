@_spi(FromOutside) import Conversions
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
  /// The value of the parameter if a request does not give it, or `nil` if the parameter has no default.
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

extension Command {
  /// Declares a command whose parameters depend on each other: they are the keys of a struct, whose `check` reports
  /// contradictions.
  ///
  /// ```swift
  /// Command("speed", body: SpeedBody.self, "Sets the speed: a percentage or a duty.") { .setSpeed($0.speed) }
  /// ```
  ///
  /// - Parameters:
  ///   - name, scope, makesSafe, makesSafeIf, meaning: as for every command.
  ///   - body: the struct whose keys are the members of the request's body, in camel case.
  ///   - order: makes the order from the body.
  public init<Body: Settings>(
    _ name: String, scope: CommandScope = .control, makesSafe: Bool = false,
    makesSafeIf: (KeyPath<Order, Bool> & Sendable)? = nil, body: Body.Type, _ meaning: String,
    order: @escaping @Sendable (Body) -> Order
  ) {
    // Of several parameters of which one must be given, the first stands for all.
    let mustBeGiven = Body().contradictions.first?.key
    let parameters = Body.keys.map { key in
      let isRequired = key.isRequired || key.name == mustBeGiven
      return ParameterDescription(
        name: key.member, kind: key.kind, unit: key.unit, meaning: key.meaning, isRequired: isRequired,
        standard: isRequired ? nil : key.standard)
    }
    self.init(name, scope: scope, makesSafe: makesSafe, makesSafeIf: makesSafeIf, meaning, parameters) {
      (body: inout JSONReader) throws(APIError) in
      var group = Body()
      try group.read(&body, Body.keys)
      if let wrong = group.contradictions.first {
        let member = Body.keys.first { $0.name == wrong.key }?.member ?? wrong.key
        throw APIError(.unprocessableContent, "VALIDATION", "\(member): \(wrong.message)", field: member)
      }
      return order(group)
    }
  }
}

/// A command for each item of a list of the wiring: `POST /api/NAME/{index}/set`, where the first item has index 0.
///
/// ```swift
/// ItemCommand("set", on: \Wiring.legs, each: "leg", "Moves it.", Parameter<UInt16>("pulseUs", in: 500...2500, "…")) { .set(leg: $0, $1) }
/// ```
///
/// It is declared among the commands of the system, one of which may have the same name.
public struct ItemCommand<Order: Sendable>: Sendable {
  let command: Command<Order>

  /// Declares a command for the items of a list.
  ///
  /// - Parameters:
  ///   - name: the name in lower-case words with dashes between them.
  ///   - list: the list of the wiring.
  ///   - word: the name of one item.
  ///   - makesSafe: whether the command can only make the system safer. Such a command never expires, and queue places
  ///     are reserved for it.
  ///   - meaning: a description in one sentence.
  ///   - order: makes the order from the item's index and the values of the parameters.
  public init<Wiring: Settings, Item: Settings, each Value: Plain>(
    _ name: String, on list: KeyPath<Wiring, [Item]> & Sendable, each word: String, scope: CommandScope = .control,
    makesSafe: Bool = false, _ meaning: String, _ parameter: repeat Parameter<each Value>,
    order: @escaping @Sendable (Int, repeat each Value) -> Order
  ) {
    var parameters: [ParameterDescription] = []
    for parameter in repeat each parameter { parameters.append(parameter.description) }
    let items = CommandItems(each: word) { ($0 as? Wiring)?[keyPath: list].count ?? 0 }
    command = Command(name, items, scope, makesSafe: makesSafe, meaning, parameters) {
      (body: inout JSONReader, index) throws(APIError) in
      order(index, repeat try (each parameter).value(in: &body))
    }
  }
}

extension DeclarationBuilder {
  /// Adds a command for items to the commands.
  public static func buildExpression<Order>(_ command: ItemCommand<Order>) -> [Element]
  where Element == Command<Order> { [command.command] }
}

/// The list whose items a command is for.
struct CommandItems: Sendable {
  let each: String
  /// Returns the number of items in a wiring.
  let count: @Sendable (any Settings) -> Int

  /// Returns the item's index from its text in a path.
  ///
  /// - Throws: an `APIError` with status 404 if there is no such item.
  func index(_ text: String, in wiring: any Settings) throws(APIError) -> Int {
    let count = count(wiring)
    guard let index = Int(text), index >= 0, index < count else {
      throw .notFound("no \(each) \(text.prefix(20)); there is 0…\(count - 1)")
    }
    return index
  }
}
