import Logging
import Service
import Store
import Tactus
import WallTime

/// A protocol for a system with a desk: code that runs beside the loops, may wait for a disk, and answers routes of its
/// own.
///
/// ```swift
/// enum Kettle: DeviceSystem, Serves {
///   static func desk(_ made: DeskMaterial<Kettle>) throws -> KettleDesk { KettleDesk(made) }
///   static var routes: [SystemRoute<Kettle>] {
///     SystemRoute.put("runs/{number}/note", body: NoteBody.self, answers: Run.self, "…") { desk, body, caller in try desk.note(body) }
///   }
/// }
/// ```
///
/// A loop never accesses the desk. A route with a `DeskLine` orders the loop, and the desk itself by `made.order`; a
/// desk that must have noted the effects of an order before its client is answered belongs to a system that adopts
/// `OrdersLoop`.
public protocol Serves: DeviceSystem {
  /// The type of the system's desk.
  associatedtype Desk: SystemDesk where Desk.State == State, Desk.Notice == Notice

  /// Makes the desk before the first tick. A simulated run of a scenario has no desk.
  static func desk(_ made: DeskMaterial<Self>) throws -> Desk
  /// The routes of the desk, with paths below `/api/NAME`.
  @DeclarationBuilder<SystemRoute<Self>> static var routes: [SystemRoute<Self>] { get }
}

/// Code that runs beside a system's loops. All methods are called one after the other on one thread that may wait for a
/// disk; no loop and no other system waits for this thread.
public protocol SystemDesk: AnyObject, SendableMetatype {
  /// The time between two beats: one second by default, at least a tenth of a second.
  static var beatPeriod: Nanoseconds { get }
  /// The state that the loop publishes.
  associatedtype State: BitwiseCopyable & Sendable
  /// The notices that the loop sends.
  associatedtype Notice: BitwiseCopyable & Sendable

  /// Handles a notice from the loop.
  func told(_ notice: Told<Notice>)
  /// Does periodic work. Called every `beatPeriod` with the state that the loop has last published.
  func beat(_ newest: Published<State>)
  /// Ends the desk. This is the last call; it receives the state that the loops published last before they ended.
  func finish(_ last: Published<State>)
  /// Whether the store knows how the outputs ended, read after `finish`. If it does not, the end of the outputs is
  /// noted for the next start. The default is `.known`.
  var outcome: KeptOutcome { get }
}

extension SystemDesk {
  public static var beatPeriod: Nanoseconds { .seconds(1) }
  public var outcome: KeptOutcome { .known }
}

/// A desk to which a reload passes the rules. A system with loops gives them to both, loop and desk, or to neither.
public protocol RuledDesk: SystemDesk {
  /// The rules of the system, which a reload may change.
  associatedtype Rules: Settings

  /// Applies the rules of a reload. Called on the desk's thread. Where the loop has rules, too, limits that are wider
  /// wait there for the safe state; the desk is given all of them at once.
  ///
  /// - Parameter done: a function to call when the rules are in effect, which may be later and on any thread.
  func apply(_ rules: Rules, done: @escaping @Sendable () -> Void)
}

extension RuledDesk {
  /// Whether the desk takes the rules of this system, and not those of another.
  func takesRules<System: DeviceSystem>(of _: System.Type) -> Bool { Rules.self == System.Rules.self }

  /// Applies rules of this desk's system that are passed without their type.
  func takes(_ rules: any Settings, done: @escaping @Sendable () -> Void) {
    // The value is of this desk's system, passed without its type.
    apply(rules as! Rules, done: done)
  }
}

/// The objects and values from which a desk is made.
public struct DeskMaterial<System: DeviceSystem> {
  /// The name of the system: `kettle`, or `kettle/one` for one of several.
  public let name: String
  /// The keys that keep their values while the program runs.
  public let wiring: System.Wiring
  /// A function that returns the state that the loop has last published. It may be called from any thread.
  public let newest: @Sendable () -> Published<System.State>
  /// A function that returns the rules in effect. It may be called from any thread.
  public let rules: @Sendable () -> System.Rules
  /// The wall clock with its trustworthiness.
  public let clock: WatchedWallClock
  /// The time zone of the machine, as its variable `TZ` or its `/etc/localtime` says it.
  public let zone: ZoneRules
  /// The program's logger with the system's name in its metadata.
  public let logger: Logger
  /// A function that sends an event to subscribers of the service and of the broker, within a tenth of a second. It may be called from any
  /// thread.
  public internal(set) var tell: @Sendable (Event) -> Void = { _ in }
  /// The requests to the loop, or `nil` if the system has no loop.
  var requests: HostedDoor<System>.Requests?
  /// The orders of the desk, or `nil` before the desk is made by the daemon.
  var deskOrders: DeskOrders<System>?
  var offers = SystemSurroundings.Offers()
  var parts = SharedParts()
  let file: StoreFile?
  let opened: OpenedTables
  var around = DeskSurroundings<System.State, System.Notice>()
  var at: SystemPlace { around.at ?? System.onlyPlace }

  /// Returns the table of the system with this type of row, which must be declared in `tables`.
  public func table<Row: Settings>(_ row: Row.Type) -> RowTable<Row> {
    guard let file, let table = opened.all.first(where: { $0.shape.row == ObjectIdentifier(row) }) else {
      misdeclared("\(System.self) has no table of \(row): `tables` of `Keeps` names it")
    }
    let rows = RowTable<Row>(
      StoredRows(table.shape.table, in: file, of: name), leftOpen: table.shape.leftOpen, logger)
    opened.retried.append(rows)
    return rows
  }
}

extension DeskMaterial {
  /// The time of day in whole seconds. It jumps when the clock is set; `clock.now` also states how far it can be
  /// trusted.
  public var now: WallInstant { WallInstant(secondsSince1970: clock.now.secondsSince1970) }

  /// The calendar day in the machine's time zone, as the days since 1 January 1970, or `nil` while the clock is not
  /// confirmed; the same as the loop's `ends.day`.
  public var day: Int? {
    let reading = clock.now
    guard reading.isConfirmed else { return nil }
    return zone.local(WallInstant(secondsSince1970: reading.secondsSince1970)).date.daysSince1970
  }
}

/// The tables of one running system.
final class OpenedTables {
  struct Shape {
    let row: ObjectIdentifier
    let table: StoredTable
    let rows: RowShape
    let most: Int
    let days: Int?
    let leftOpen: (column: String, value: StoredValue)?
  }

  let all: [(shape: Shape, rows: StoredRows?)]
  var retried: [any RetriedTable] = []

  init(_ shapes: [Shape], in file: StoreFile?, of name: String) {
    all = shapes.map { shape in (shape, file.map { StoredRows(shape.table, in: $0, of: name) }) }
  }

  static func shapes<Keeping: Keeps>(of _: Keeping.Type, _ wiring: Any) -> [Shape] {
    Keeping.tables.map { table in
      Shape(
        row: table.row, table: table.stored(Keeping.self is any Several.Type), rows: table.shape, most: table.most,
        days: table.keepDays.map { $0(wiring as! Keeping.Wiring) }, leftOpen: table.leftOpen)
    }
  }
}
