import Service
import Tactus

/// A device system: one declaration of everything that the daemon needs to know about a kind of device.
///
/// ```swift
/// enum Fan: DeviceSystem { … }
/// DaemonProgram(name: "fan-daemon", version: "1.0.0", summary: "…", systems: [Fan.self]).main()
/// ```
///
/// The daemon derives from the declaration: the section of the configuration file with its checks, reference and
/// schema; the resource claims, the output of `doctor`, and the safe states that the guard writes; `/api/NAME` with its
/// commands, their OpenAPI description, events, MQTT, Home Assistant, Prometheus and a card on the page; `tactus
/// reload`, and the faults and scenarios of the simulation. No requirement but `loopRules` has a default: a system
/// states explicitly what it does without.
///
/// Nest the types under exactly these names (`Fan.State`, `Fan.Order`): if the compiler has to infer them from members
/// that need them, it reports a recursion. The types that a tick uses may live in a target of their own that imports
/// only `Tactus`.
public protocol DeviceSystem: SendableMetatype {
  /// The keys that keep their values while the program runs, such as pins, ports and addresses. A system without such
  /// keys uses `NoSettings`.
  associatedtype Wiring: Settings
  /// The keys that `tactus reload` may change while the program runs. The loop receives all of them together at a tick
  /// boundary, so they are plain values, unless the system adopts `ConvertsRules`.
  associatedtype Rules: Settings
  /// The form in which the loop receives the rules: `Rules`, unless the system adopts `ConvertsRules`, which names it.
  associatedtype LoopRules: BitwiseCopyable & Sendable = Rules
  /// The orders that can be sent to the loop. They are `Equatable`, so that an emergency stop is recognised among them: it counts from the moment of
  /// the request, over a restart too, even if the loop hangs.
  associatedtype Order: BitwiseCopyable & Sendable & Equatable
  /// The reasons for which the loop may refuse an order. A system whose loop never refuses uses `NoRefusal`.
  associatedtype Refusal: RefusalWord
  /// The notices that the loop sends when something noteworthy happens.
  associatedtype Notice: DeviceNotice
  /// The state that the loop publishes in every tick.
  associatedtype State: BitwiseCopyable & Sendable

  /// The system's name in the configuration file, in `/api/NAME` and in `tactus_NAME_…`: lower-case letters, digits and
  /// dashes.
  static var name: String { get }
  /// A description of the system in one sentence.
  static var summary: String { get }
  /// The state that is published before the first tick.
  static var initialState: State { get }
  /// The fields of the state that documents and metrics show. A field called `state` whose value is a word is the
  /// system's state in `/api/health` and in logs.
  @DeclarationBuilder<Field<State>> static var fields: [Field<State>] { get }
  /// The commands that clients may send, besides the emergency stop and the reset.
  @DeclarationBuilder<Command<Order>> static var commands: [Command<Order>] { get }
  /// The order that every emergency stop sends. It stops every output and latches the stop.
  static var emergencyStop: Order { get }
  /// Returns whether a state is an emergency stop that only a reset leaves, whatever caused it: a route, a datagram, a button or the loop itself. A
  /// stop that is latched when the program ends is latched at the next start. The function may be called from any thread.
  static func isEmergencyStopped(_ state: State) -> Bool
  /// The order that leaves the e-stop and fault states.
  static var reset: Order { get }
  /// The refusal of a reset when there is nothing to reset, which is not an error when all systems are reset; `nil` if
  /// a reset is never refused for this reason.
  static var nothingToReset: Refusal? { get }
  /// The order that the loop receives when a client's WebSocket or the connection to the broker closes, or `nil` if
  /// earlier orders remain in force.
  static var whenClientLeaves: Order? { get }

  /// Returns the loops on the system's lane; at least one of them is made by `mailbox.loop`. The function is called
  /// once on a bench that only records the opened ports, for the guard's plan and for `check`, and once on the bench that
  /// opens the ports.
  static func loops(_ bench: Bench<Wiring>, _ mailbox: Inbox) throws -> [Loop]
  /// Returns the rules in the form that the loop uses; see `ConvertsRules`.
  static func loopRules(_ wiring: Wiring, _ rules: Rules) -> LoopRules
}

extension DeviceSystem where LoopRules == Rules {
  /// Returns the rules unchanged.
  public static func loopRules(_ wiring: Wiring, _ rules: Rules) -> Rules { rules }
}

extension DeviceSystem {
  /// The daemon's side of the loop's mailboxes.
  ///
  /// The system is the only generic parameter. If `LoopRules` were a parameter, too, the compiler could infer neither
  /// `LoopRules` nor the witness of `loops`, since each would need the other.
  public typealias Inbox = SystemMailbox<Self>
  /// The loop's side of its mailboxes.
  public typealias Ends = LoopEnds<Order, Refusal, Notice, State, LoopRules>
}
