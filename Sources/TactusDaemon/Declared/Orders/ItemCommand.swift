@_spi(FromOutside) import Conversions
import Service

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
