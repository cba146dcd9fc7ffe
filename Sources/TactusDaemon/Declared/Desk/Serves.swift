import Logging
import Service
import Store
import Tactus
import WallTime

/// A system with a desk: what runs beside its loops, may wait for a disk, and answers routes of its own.
///
///     enum Kettle: DeviceSystem, Serves {
///       static func desk(_ made: DeskMaterial<Kettle>) throws -> KettleDesk { KettleDesk(made) }
///       static var routes: [SystemRoute<KettleDesk>] {
///         SystemRoute.put("runs/{number}/note", body: NoteBody.self, answers: Run.self, "…") { desk, body, caller in try desk.note(body) }
///       }
///     }
///
/// A loop never sees the desk. What the desk wants of its loop is a command, which clients send.
public protocol Serves: DeviceSystem {
  /// One object of the system's.
  associatedtype Desk: SystemDesk where Desk.State == State, Desk.Notice == Notice

  /// Makes the desk, before the first tick. A simulated run of a scenario has none.
  static func desk(_ made: DeskMaterial<Self>) throws -> Desk
  /// Below `/api/NAME`.
  @DeclarationBuilder<SystemRoute<Desk>> static var routes: [SystemRoute<Desk>] { get }
}

/// What runs beside a system's loops. It is called on one thread, one call after the other, which may wait for a disk: no loop and no other
/// system waits for it.
public protocol SystemDesk: AnyObject, SendableMetatype {
  /// What the loop publishes.
  associatedtype State: BitwiseCopyable & Sendable
  /// What the loop tells.
  associatedtype Notice: BitwiseCopyable & Sendable

  /// The loop has told something.
  func told(_ notice: Told<Notice>)
  /// Once a second, with what the loop has published last.
  func beat(_ newest: Published<State>)
  /// The loops have ended, and this is what they published last: the last call.
  func finish(_ last: Published<State>)
}

/// What a desk is made of.
public struct DeskMaterial<System: DeviceSystem> {
  /// `kettle`, or `kettle/one` of several.
  public let name: String
  /// The keys that hold from the start to the end.
  public let wiring: System.Wiring
  /// What the loop has published last; any thread.
  public let newest: @Sendable () -> Published<System.State>
  /// The rules in effect; any thread.
  public let rules: @Sendable () -> System.Rules
  /// The time of day, with how far it can be believed.
  public let clock: WatchedWallClock
  /// The program's logger, with the system's name.
  public let logger: Logger
  let file: StoreFile?
  let opened: OpenedTables

  /// A table of the system's, by the type of its rows, which `tables` has.
  public func table<Row: Settings>(_ row: Row.Type) -> RowTable<Row> {
    guard let file, let table = opened.all.first(where: { $0.shape.row == ObjectIdentifier(row) }) else {
      preconditionFailure("\(System.self) has no table of \(row): `tables` of `Keeps` names it")
    }
    let rows = RowTable<Row>(StoredRows(table.shape.table, in: file, of: name), logger)
    opened.retried.append(rows)
    return rows
  }
}

extension DeskMaterial {
  /// The time of day in whole seconds. It jumps when the clock is set: `clock.now` says how far it can be believed.
  public var now: WallInstant { WallInstant(secondsSince1970: clock.now.secondsSince1970) }
}

/// The tables of one system that runs.
final class OpenedTables {
  struct Shape {
    let row: ObjectIdentifier
    let table: StoredTable
    let rows: RowShape
    let most: Int
    let days: Int?
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
        days: table.keepDays.map { $0(wiring as! Keeping.Wiring) })
    }
  }
}
