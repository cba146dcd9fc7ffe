import Service
import Tactus

/// A protocol for a system whose desk sends orders to its own loop, for example by a schedule, and must know the
/// effects of an order before a client is answered.
///
/// ```swift
/// enum Sprinkler: DeviceSystem, Serves, OrdersLoop {
///   static func desk(_ made: DeskMaterial<Sprinkler>) throws -> SprinklerDesk {
///     SprinklerDesk(orders: made.orders(makesSafe: \.isStop, mayBeLate: \.mayBeLate, part: \.part))
///   }
/// }
/// ```
///
/// Commands of clients need no desk. The emergency stop and the reset reach the loop without the desk.
public protocol OrdersLoop: Serves where Desk: OrderingDesk {}

/// The desk of a system that adopts `OrdersLoop`.
public protocol OrderingDesk: SystemDesk, Sendable {
  /// Notes the loop's notices before the answers that follow them reach the clients, so that a client that is answered finds the effects noted.
  /// Called on the main thread, at least ten times a second, also without notices; must not wait for a disk. `told` follows on the desk's thread for
  /// each of these notices.
  func hear(_ notices: [Told<Notice>], at now: TickInstant)
}

extension OrderingDesk {
  /// Notes notices of this desk's system that are passed without their type.
  func heard(_ notices: any Sendable, at now: TickInstant) {
    // The value is of this desk's system, passed without its type.
    hear(notices as! [Told<Notice>], at: now)
  }
}

extension DeskMaterial where System: OrdersLoop {
  /// Returns the way by which the desk orders the loop.
  ///
  /// - Parameters:
  ///   - makesSafe: whether an order can only make the system safer, so that queue places are reserved for it.
  ///   - mayBeLate: whether the loop carries the order out however late it arrives. An order that sets an output in
  ///     motion must not.
  ///   - part: the part of the system that the order stops or sets in motion, so that a stop makes earlier requests for it void; `nil` if the order
  ///     does neither.
  public func orders(
    makesSafe: @escaping @Sendable (System.Order) -> Bool, mayBeLate: @escaping @Sendable (System.Order) -> Bool,
    part: @escaping @Sendable (System.Order) -> SystemPart? = { _ in .whole }
  ) -> LoopOrders<System.Order, System.Refusal> {
    guard let requests else { preconditionFailure("\(name): its loop takes orders") }
    return LoopOrders(requests, of: name, makesSafe: makesSafe, mayBeLate: mayBeLate, part: part)
  }
}
