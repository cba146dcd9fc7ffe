import Service
import Tactus

/// A device system: everything that the daemon has to know of it, declared once.
///
///     enum Fan: DeviceSystem { … }
///     DaemonProgram(name: "fan-daemon", version: "1.0.0", summary: "…", systems: [Fan.self]).main()
///
/// From the declaration come: the section of the file with its checks, reference and schema; claims, `doctor`, and what the guard writes;
/// `/api/NAME` with its commands, their description in OpenAPI, events, MQTT, Home Assistant, Prometheus, a card on the page; `tactus reload`,
/// faults and scenarios of the simulation. Nothing has a default here: what a system has not, it says.
///
/// Nest the types under these very names (`Fan.State`, `Fan.Order`), and say `typealias LoopRules = Rules`: inferred from members that need them, they
/// make the compiler report a recursion.
/// What a tick touches may live in a target of its own that imports `Tactus` alone.
public protocol DeviceSystem: SendableMetatype {
  /// Keys that hold from the start to the end: what hangs where. `NoSettings`: there are none.
  associatedtype Wiring: Settings
  /// Keys that `tactus reload` may change while the program runs. The loop gets them whole, at a tick boundary, so they are plain values, unless the system
  /// adopts `ConvertsRules`.
  associatedtype Rules: Settings
  /// What the loop gets of the rules: `typealias LoopRules = Rules`, unless the system adopts `ConvertsRules`.
  associatedtype LoopRules: BitwiseCopyable & Sendable = Rules
  /// What the loop can be asked to do.
  associatedtype Order: BitwiseCopyable & Sendable
  /// Why the loop may refuse. `NoRefusal`: it never does.
  associatedtype Refusal: RefusalWord
  /// What the loop tells when it happens.
  associatedtype Notice: NoticeWord & Sendable
  /// What the loop publishes in every tick.
  associatedtype State: BitwiseCopyable & Sendable

  /// The section of the file, `/api/NAME`, `tactus_NAME_…`: lower-case letters, digits and dashes.
  static var name: String { get }
  /// One sentence.
  static var summary: String { get }
  /// Before the first tick.
  static var initialState: State { get }
  /// What of the state is told. One that is a word and called `state` is the system's state in `/api/health` and in logs.
  @DeclarationBuilder<Field<State>> static var fields: [Field<State>] { get }
  /// What clients may ask, besides the emergency stop and the reset.
  @DeclarationBuilder<Command<Order>> static var commands: [Command<Order>] { get }
  /// The order behind every e-stop: it stops every output, latched.
  static var emergencyStop: Order { get }
  /// The order that leaves e-stop and fault.
  static var reset: Order { get }
  /// The refusal of a reset when there is nothing to reset, which is no error when all systems are reset, or `nil` if a reset is never refused for that.
  static var nothingToReset: Refusal? { get }
  /// What the loop is asked when a client's WebSocket, or the broker's connection, is gone, or `nil` if what was asked for holds.
  static var whenClientLeaves: Order? { get }

  /// The loops, one at least by `mailbox.loop`, on the system's lane. Called once on a bench that only notes what is opened, for the plan of the guard and
  /// for `check`, and once on the one that opens it.
  static func loops(_ bench: Bench<Wiring>, _ mailbox: Inbox) throws -> [Loop]
  /// See `ConvertsRules`.
  static func loopRules(_ wiring: Wiring, _ rules: Rules) -> LoopRules
}

extension DeviceSystem where LoopRules == Rules {
  /// The rules as they are in the file.
  public static func loopRules(_ wiring: Wiring, _ rules: Rules) -> Rules { rules }
}

extension DeviceSystem {
  /// The door's side of the loop's mailboxes.
  public typealias Inbox = SystemMailbox<Order, Refusal, Notice, State, LoopRules>
  /// The loop's side.
  public typealias Ends = LoopEnds<Order, Refusal, Notice, State, LoopRules>
}
