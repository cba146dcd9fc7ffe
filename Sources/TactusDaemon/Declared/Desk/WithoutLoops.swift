import Service
import Tactus

/// A protocol for a system without control loops. It has no actuators, and its state is published by its desk: a
/// camera, a weather station, or any program beside the daemon.
///
/// ```swift
/// enum Station: WithoutLoops {
///   static func desk(_ made: DeskMaterial<Station>) throws -> StationDesk { try StationDesk(made) }
///   …
/// }
/// ```
///
/// The system takes no orders: it has no e-stop, no reset and no commands, and the guard writes nothing for it. Clients
/// use the routes of its desk. `State` and `fields` are as for every system; the desk publishes the state by
/// `made.publish`. A reload passes the rules to the desk; rules may contain any kind of key. The documents have no
/// `monotonicNs`, which is the instant of a tick; subscribers receive the state once a second.
public protocol WithoutLoops: Serves
where Order == NoOrder, Refusal == NoRefusal, LoopRules == NoSettings, Desk: LoneDesk, Desk.Rules == Rules {
  /// Claims the resources of the machine that the system uses without opening them: `bench.listens(tcp: \.port)`. By
  /// default there are none.
  static func plan(_ bench: Bench<Wiring>) throws
}

extension WithoutLoops {
  /// Claims nothing, because a system without loops needs no hardware.
  public static func plan(_ bench: Bench<Wiring>) throws {}
  /// Returns no loops, because the system has none.
  public static func loops(_ bench: Bench<Wiring>, _ mailbox: Inbox) throws -> [Loop] {
    try plan(bench)
    return []
  }
  /// Returns no rules, since there is no loop.
  public static func loopRules(_ wiring: Wiring, _ rules: Rules) -> NoSettings { NoSettings() }
}

extension DeviceSystem {
  /// Whether the system has no loop.
  static var isWithoutLoops: Bool { self is any WithoutLoops.Type }
}

/// The desk of a system without loops. Unlike other desks it is also called from other threads.
public protocol LoneDesk: RuledDesk, Sendable {
  /// Returns events for subscribers besides the state and the notices. Called ten times a second on the main thread,
  /// and must not block.
  func events(at now: TickInstant) -> [Event]
}

extension LoneDesk {
  /// Returns no events, for a desk that has none.
  public func events(at now: TickInstant) -> [Event] { [] }
}

extension LoneDesk where Rules == NoSettings {
  /// Calls `done` immediately, since there are no rules.
  public func apply(_ rules: NoSettings, done: @escaping @Sendable () -> Void) { done() }
}
