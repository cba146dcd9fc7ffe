import Logging
import Service
import Store
import Tactus
import Wire

/// A protocol for a system whose state before the first tick depends on its file, for example on the number of legs and
/// their names.
public protocol PreparesState: DeviceSystem {
  /// Returns the state before the first tick, in place of `initialState`. The values have no contradictions.
  static func initialState(_ wiring: Wiring, _ rules: Rules) -> State
}

extension PreparesState {
  /// The state before the first tick with the defaults of all keys.
  public static var initialState: State { initialState(Wiring(), Rules()) }

  fileprivate static func first(_ wiring: any Settings, _ rules: any Settings) -> State {
    guard let wiring = wiring as? Wiring, let rules = rules as? Rules else {
      preconditionFailure("\(self): values of another system")
    }
    return initialState(wiring, rules)
  }
}

extension DeviceSystem {
  /// Returns the state before the first tick for the values of a file.
  static func firstState(_ wiring: Wiring, _ rules: Rules) -> State {
    guard let preparing = self as? any PreparesState.Type else { return initialState }
    // The two types are the same, so the cast succeeds.
    return preparing.first(wiring, rules) as! State
  }
}

extension KeepsOwn {
  /// Changes nothing: the system's tables say nothing of the loop's state.
  public static func resume(_ state: inout State, _ store: StoreFile, _ logger: Logger) {}

  fileprivate static func resumed(_ first: Any, _ store: StoreFile, _ logger: Logger) -> Any {
    // The values are this system's, passed without their types.
    var state = first as! State
    resume(&state, store, logger)
    return state
  }
}

extension DeviceSystem {
  /// Returns the state before the first tick with the values restored from the system's own tables.
  static func resumed(_ first: State, _ surroundings: SystemSurroundings?) -> State {
    guard let surroundings, let resuming = self as? any KeepsOwn.Type else { return first }
    // The two types are the same, so the cast succeeds.
    return resuming.resumed(first, surroundings.storeFile, surroundings.logger) as! State
  }
}

/// The orders of a system without actuators and without commands. It has no emergency stop, and the emergency stop of
/// the whole program does not affect it.
public enum NoOrder: BitwiseCopyable, Sendable, Equatable {
  /// A placeholder, because an enumeration needs a case. It is never sent.
  case never
}

extension DeviceSystem where Order == NoOrder {
  /// The commands of a system without orders: none.
  public static var commands: [Command<NoOrder>] { [] }
  /// The placeholder order, which is never sent.
  public static var emergencyStop: NoOrder { .never }
  /// Returns `false`, since there is nothing to stop.
  public static func isEmergencyStopped(_ state: State) -> Bool { false }
  /// The placeholder order, which is never sent.
  public static var reset: NoOrder { .never }
  /// The value `nil`, since a reset is never requested.
  public static var nothingToReset: Refusal? { nil }
  /// The value `nil`, since the loop receives no orders.
  public static var whenClientLeaves: NoOrder? { nil }
}

extension DeviceSystem {
  /// Whether orders can be sent to the system's loop.
  static var takesOrders: Bool { Order.self != NoOrder.self && !isWithoutLoops }
}

/// A protocol for a system whose answers to commands contain more than the word of its state.
public protocol AnswersInFull: Sees {
  /// The fields of the document that an answer contains. The answer to a command for an item contains only that item,
  /// under the item's name.
  @DeclarationBuilder<Field<Seen>> static var answerFields: [Field<Seen>] { get }
}

extension SeenDocument {
  /// The document that answers to commands contain, or `nil` if the system does not adopt `AnswersInFull`.
  static var ofAnswers: SeenDocument? {
    (System.self as? any AnswersInFull.Type).map { Self.answers(of: $0) }
  }

  private static func answers<Answering: AnswersInFull>(of _: Answering.Type) -> SeenDocument {
    Self.of(Answering.self, Answering.answerFields)
  }

  /// Returns the members of an answer.
  ///
  /// - Parameter item: the item that the command was for, or `nil` if the command was for the system.
  func members(
    _ published: Published<System.State>, _ look: Look<System>, of item: (each: String, index: Int)?
  ) -> [JSONValue.Member] {
    let values = values(of: published, look)
    guard let item else { return shapes.members(values) }
    for (shape, value) in zip(shapes, values) {
      guard case .items(let items) = shape.content, items.each == item.each, case .items(let list) = value,
        list.indices.contains(item.index)
      else { continue }
      return [.init(name: item.each, value: .object(items.fields.members(list[item.index])))]
    }
    return []
  }
}
