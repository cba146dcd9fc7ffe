import Service
import Synchronization
import Tactus

/// A protocol for a system whose documents contain more than its snapshot, such as names from the file, ages, or the
/// state of a link.
///
/// ```swift
/// enum Robot: DeviceSystem, Sees {
///   static func seen(_ published: Published<State>, _ look: Look<Robot>) -> RobotSeen { RobotSeen(published.state, now: look.now) }
///   static var seenFields: [Field<RobotSeen>] { Field("state", \.word, "…") }
/// }
/// ```
///
/// `fields` then contains only the fields that are `kept`, and documents do not show these.
public protocol Sees: DeviceSystem {
  /// The value from which documents, metrics and Home Assistant entities are made.
  associatedtype Seen: Sendable
  /// Returns the value to show for the state that the loop has published. The function may be called from any thread.
  static func seen(_ published: Published<State>, _ look: Look<Self>) -> Seen
  /// Returns a version number that changes whenever the shown value changes without the loop, for example through a desk. The function may be called
  /// from any thread.
  static func version(_ look: Look<Self>) -> UInt64
  /// The fields of the shown value, in place of `fields`.
  @DeclarationBuilder<Field<Seen>> static var seenFields: [Field<Seen>] { get }
  /// Whether documents show the present instant in place of that of the last tick, so that countdowns and ages go on between ticks: for a loop that ticks
  /// less often than people look. Telemetry is then sent when the state has changed instead of ten times a second. `false` by default.
  static var showsPresent: Bool { get }
  /// Returns a JSON object whose members stand at the top level of `GET /api/status`, besides the state in `systems` there; an empty list of bytes, as by
  /// default, for none. The function may be called from any thread, and must not block.
  static func statusMembers(_ published: Published<State>, _ look: Look<Self>) -> [UInt8]
  /// Returns events that subscribers receive after the state, such as each second of a countdown; none by default. Called ten times a second on the main
  /// thread; must not block or wait for a disk.
  static func events(_ published: Published<State>, _ look: Look<Self>) -> [Event]
  /// Returns the IANA time zone, such as `Europe/Berlin`, by which the page shows every time of day, or `nil`, as by default, if the file names none and
  /// the system goes by the machine's.
  static func timeZone(_ wiring: Wiring) -> String?
  /// Returns the order that notifies the loop that a client has read `GET /api/NAME`, which is sent at most once a second: for a loop that polls a device
  /// more often meanwhile. `nil`, as by default, if the loop needs no such order.
  static func whenWatched(_ wiring: Wiring) -> Order?
}

extension Sees {
  /// Returns 0: the shown value depends only on the loop and on time.
  public static func version(_ look: Look<Self>) -> UInt64 { 0 }
  /// The value `false`, so that documents show the instant of the last tick.
  public static var showsPresent: Bool { false }
  /// Returns no bytes: the system has no members at the top level of the status.
  public static func statusMembers(_ published: Published<State>, _ look: Look<Self>) -> [UInt8] { [] }
  /// Returns no events: subscribers receive the state and the notices.
  public static func events(_ published: Published<State>, _ look: Look<Self>) -> [Event] { [] }
  /// Returns `nil`: the system goes by the machine's time zone.
  public static func timeZone(_ wiring: Wiring) -> String? { nil }
  /// Returns `nil`: the loop does the same whether or not a client reads its state.
  public static func whenWatched(_ wiring: Wiring) -> Order? { nil }
  /// The fields that are kept over a restart: none by default.
  public static var fields: [Field<State>] { [] }

  static func shownInStatus(_ published: Any, _ look: Any) -> [UInt8] {
    // The values are this system's, passed without their types.
    statusMembers(published as! Published<State>, look as! Look<Self>)
  }

  /// Returns the time zone of a wiring whose type only the system knows.
  static func zone(_ wiring: Any) -> String? { timeZone(wiring as! Wiring) }

  static func watching(_ wiring: any Settings) -> (any Sendable)? { (wiring as? Wiring).flatMap { whenWatched($0) } }

  static func toldAtBeat(_ published: Any, _ look: Any) -> [Event] {
    // The values are this system's, passed without their types.
    events(published as! Published<State>, look as! Look<Self>)
  }
}

/// The context in which a system's state is shown: configuration, time and shared values.
public struct Look<System: DeviceSystem>: Sendable {
  /// The name of the system: `kettle`, or `kettle/one` for one of several.
  public let name: String
  /// The keys that keep their values while the program runs.
  public let wiring: System.Wiring
  /// The rules in effect.
  public let rules: System.Rules
  /// The time on the runtime's clock: for a document the instant of the tick that it shows, for `/metrics` the instant
  /// of the scrape, so that ages grow while a loop hangs.
  public let now: TickInstant
  let parts: SharedParts

  /// Returns a look with the defaults of all keys.
  static func standard(at now: TickInstant) -> Look {
    Look(name: System.name, wiring: .init(), rules: .init(), now: now, parts: SharedParts())
  }

  /// Returns the value of this type that the bench or the desk shares, or `nil` if neither shares one.
  public func shared<Value: Sendable>(_: Value.Type = Value.self) -> Value? { parts.first() }
}

/// The values that a system's bench and desk share with readers of its state, found by their types. Safe to use from
/// any thread.
final class SharedParts: Sendable {
  private let parts = Mutex<[any Sendable]>([])

  func add(_ part: some Sendable) { parts.withLock { $0.append(part) } }

  func first<Value: Sendable>() -> Value? { parts.withLock { $0.lazy.compactMap { $0 as? Value }.first } }
}

extension Bench {
  /// Shares a value that may be read from any thread, such as the report of a link. Readers find it by its type with
  /// `Look.shared` and `DeskMaterial.shared`.
  public func share(_ part: some Sendable) { parts.shared.add(part) }
}

extension DeskMaterial {
  /// Returns the value of this type that the bench shares, or `nil` if the bench shares none.
  public func shared<Value: Sendable>(_: Value.Type = Value.self) -> Value? { parts.first() }
  /// Shares a value with readers of the system's state, which find it with `Look.shared`.
  public func share(_ part: some Sendable) { parts.add(part) }
}
