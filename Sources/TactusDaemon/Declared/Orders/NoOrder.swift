/// The orders of a system without actuators and without commands. It has no emergency stop, and the emergency stop of
/// the whole program does not affect it.
public enum NoOrder: BitwiseCopyable, Sendable, Equatable {
  /// An order that is never sent.
  case never
}

extension DeviceSystem where Order == NoOrder {
  /// No commands.
  public static var commands: [Command<NoOrder>] { [] }
  /// An order that is never sent.
  public static var emergencyStop: NoOrder { .never }
  /// `false`, since there is nothing to stop.
  public static func isEmergencyStopped(_ state: State) -> Bool { false }
  /// An order that is never sent.
  public static var reset: NoOrder { .never }
  /// `nil`, since a reset is never requested.
  public static var nothingToReset: Refusal? { nil }
  /// `nil`, since the loop receives no orders.
  public static var whenClientLeaves: NoOrder? { nil }
}

extension DeviceSystem {
  /// Whether orders can be sent to the system's loop.
  static var takesOrders: Bool { Order.self != NoOrder.self && !isWithoutLoops }
}
