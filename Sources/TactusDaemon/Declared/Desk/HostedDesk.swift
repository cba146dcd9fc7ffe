@_spi(FromOutside) import Conversions
import Service
import Store
import Synchronization
import Tactus
import WallTime
import Wire

/// A desk of a running system, without the type of the desk.
protocol RunningDesk: AnyObject, Sendable {
  /// The routes of the desk, and the OpenAPI description of each with path, method and scope.
  var routes: [Route] { get }
  var descriptions: [(path: String, method: RouteMethod, scope: Scope, description: RouteDescription)] { get }
  /// The thread of the desk.
  var thread: DeskThread { get }
  /// The desk as a participant on the broker, or `nil` if the system uses no additional topics there.
  var participant: (any BrokerParticipant)? { get }
  /// The time between two beats; see `SystemDesk.beatPeriod`.
  var beatPeriod: Nanoseconds { get }
  /// Does periodic work. Called every `beatPeriod` with the newest `Published`.
  func beat(_ newest: any Sendable, at now: TickInstant)
  /// Handles a notice, which is a `Told`.
  func told(_ notice: any Sendable)
  /// Whether the desk hears the notices before the answers are delivered.
  var hearsNotices: Bool { get }
  /// Notes notices, a list of `Told`; see `OrderingDesk.hear`.
  func hear(_ notices: any Sendable, at now: TickInstant)
  /// Returns the change that gives rules of a reload to the desk, or `nil` if the desk takes none.
  func change(of system: String, _ keys: [KeyChange], to rules: any Settings) -> DeskChange?
  /// Ends the desk. This is the last call, and it waits for the disk. Returns whether the store knows how the outputs
  /// ended.
  @discardableResult
  func finish(_ last: any Sendable) -> KeptOutcome
  /// Returns the events of a desk without loops for subscribers, besides the state.
  func events(at now: TickInstant) -> [Event]
}

extension RunningDesk {
  /// The value `false`, because the desk hears notices on its thread alone.
  var hearsNotices: Bool { false }
  /// Does nothing, because the desk hears notices on its thread alone.
  func hear(_ notices: any Sendable, at now: TickInstant) {}
  /// Returns `nil`: the desk takes no rules.
  func change(of system: String, _ keys: [KeyChange], to rules: any Settings) -> DeskChange? { nil }
}

/// The desk of a running system with its thread, its tables and its routes.
///
/// The desk itself is used only on its thread.
// Safe: desk and tables belong to the thread.
final class HostedDesk<System: Serves>: RunningDesk, @unchecked Sendable {
  let thread: DeskThread
  private let name: String
  let desk: System.Desk
  /// The orders of the desk and of its routes.
  let orders: DeskOrders<System>
  /// Returns the state that the loop has last published.
  let newest: @Sendable () -> Published<System.State>
  let participant: (any BrokerParticipant)?
  /// The desk if the system adopts `OrdersLoop`.
  private let ordering: (any OrderingDesk)?
  private let tables: OpenedTables
  private let clock: WatchedWallClock
  private var nextPrune = TickInstant.zero
  private let waiting = Atomic(0)

  /// The maximum number of requests that wait for the desk.
  private static var mostWaiting: Int { 64 }
  private static var prunePeriod: Nanoseconds { .seconds(3_600) }

  /// Makes the desk.
  ///
  /// - Throws: the errors of `System.desk`.
  init(_ made: DeskMaterial<System>) throws {
    let thread = DeskThread(made.name)
    let orders = DeskOrders<System>(thread, made.requests)
    (self.thread, self.orders) = (thread, orders)
    (name, tables, clock, newest) = (made.name, made.opened, made.clock, made.newest)
    var made = made
    made.deskOrders = orders
    desk = try System.desk(made)
    if let ruled = desk as? any RuledDesk, !ruled.takesRules(of: System.self) {
      throw Misdeclared("its desk takes the rules of another system: expected those of \(System.self)")
    }
    ordering = System.self is any OrdersLoop.Type ? desk as? any OrderingDesk : nil
    participant = (System.self as? any OnBroker.Type)?.participant(made.wiring, desk)
  }

  var beatPeriod: Nanoseconds { System.Desk.beatPeriod }

  /// Creates a hosted desk from an existing desk without tables.
  init(
    _ name: String, _ desk: System.Desk, _ wiring: System.Wiring, _ clock: WatchedWallClock,
    _ requests: HostedDoor<System>.Requests, newest: @escaping @Sendable () -> Published<System.State>
  ) {
    (self.name, self.desk, self.clock, self.newest) = (name, desk, clock, newest)
    ordering = System.self is any OrdersLoop.Type ? desk as? any OrderingDesk : nil
    let thread = DeskThread(name)
    (self.thread, orders) = (thread, DeskOrders(thread, requests))
    tables = OpenedTables([], in: nil, of: name)
    participant = (System.self as? any OnBroker.Type)?.participant(wiring, desk)
  }

  func told(_ notice: any Sendable) {
    guard let notice = notice as? Told<System.Notice> else { return }
    thread.run { [self] in
      orders.begin(asked: notice.at)
      desk.told(notice)
      return []
    }
  }

  var hearsNotices: Bool { ordering != nil }
  func hear(_ notices: any Sendable, at now: TickInstant) { ordering?.heard(notices, at: now) }

  func change(of system: String, _ keys: [KeyChange], to rules: any Settings) -> DeskChange? {
    guard desk is any RuledDesk else { return nil }
    return DeskChange(of: system, keys) { [self] done in
      let now = orders.now
      thread.run { [self] in
        orders.begin(asked: now)
        (desk as? any RuledDesk)?.takes(rules, done: done)
        return []
      }
    }
  }

  func beat(_ newest: any Sendable, at now: TickInstant) {
    guard let newest = newest as? Published<System.State> else { return }
    thread.beat { [self] in
      for table in tables.retried { table.retry() }
      orders.begin(asked: now)
      desk.beat(newest)
      prune(at: now)
      return []
    }
  }

  @discardableResult
  func finish(_ last: any Sendable) -> KeptOutcome {
    var outcome = KeptOutcome.known
    thread.finish {
      if let last = last as? Published<System.State> { desk.finish(last) }
      for table in tables.retried { table.retry() }
      outcome = desk.outcome
    }
    return outcome
  }

  func events(at now: TickInstant) -> [Event] { (desk as? any LoneDesk)?.events(at: now) ?? [] }

  /// Removes old rows. Rows are removed by age only while the clock is trusted, which is checked again soon if it is
  /// not; surplus rows are removed in any case.
  private func prune(at now: TickInstant) {
    guard now >= nextPrune else { return }
    let reading = clock.now
    nextPrune = now + (reading.mayDelete ? Self.prunePeriod : .seconds(60))
    for (shape, rows) in tables.all {
      // Rows that the store refuses to remove now are removed the next time.
      if reading.mayDelete, let days = shape.days {
        _ = try? rows?.prune(before: WallInstant(secondsSince1970: reading.secondsSince1970) - Int64(days) * 86_400)
      }
      _ = try? rows?.prune(beyond: shape.most)
    }
  }

  // MARK: routes

  var descriptions: [(path: String, method: RouteMethod, scope: Scope, description: RouteDescription)] {
    System.routes.filter { if case .own = $0.source { false } else { true } }.map {
      ("/api/\(name)/\($0.path.text)", $0.method, $0.scope, $0.description)
    }
  }

  var routes: [Route] {
    System.routes.flatMap { route in
      if case .own(let make) = route.source { make(desk) } else { [self.route(route)] }
    }
  }

  private func route(_ route: SystemRoute<System>) -> Route {
    let path = "/api/\(name)/\(route.path.text)"
    switch route.source {
    case .desk(let handler):
      return self.route(route, path) { [self] request in
        let asked = request.caller.arrived ?? orders.now
        return try await perform(asked: asked) { try handler($0, request) }
      }
    case .line(let handler, let makesSafe):
      return self.route(route, path) { [self] request in
        try await handler(DeskLine(self, request.caller), request)
      }.makingSafe(makesSafe)
    case .own: misdeclared("\(path): the desk makes its own")
    case .rows(let row, let isCSV):
      guard let table = tables.all.first(where: { $0.shape.row == row }), let rows = table.rows else {
        misdeclared("\(path) shows a table that `tables` of \(System.self) does not have")
      }
      let history = RowHistory(
        rows: rows, shape: table.shape.rows, file: String(path.dropFirst(5)).replacing("/", with: "-"))
      return Route(.get, path, scope: route.scope) { try isCSV ? history.csv($0) : history.page($0) }.waitingForDisk()
    }
  }

  private func route(
    _ route: SystemRoute<System>, _ path: String,
    _ handle: @escaping @Sendable (APIRequest) async throws -> APIResponse
  ) -> Route {
    let action = "\(name).\(route.path.text)"
    return switch route.method {
    case .get: Route(.get, path, scope: route.scope, handle)
    case .post: Route(.post, path, scope: route.scope, action: action, handle)
    case .put: Route(.put, path, scope: route.scope, action: action, handle)
    case .delete: Route(.delete, path, scope: route.scope, action: action, handle)
    }
  }

  // MARK: work on the desk's thread

  /// The error of a request for which there is no more room.
  var busy: APIError {
    APIError(.serviceUnavailable, "BUSY", "\(Self.mostWaiting) requests wait for \(name) already; try again")
  }

  /// Does work with the desk on its thread, and returns the result.
  ///
  /// - Parameter asked: when the work was asked for.
  /// - Throws: what the work throws, of which a `StoreError` becomes 503; 503 `BUSY` if there is no room.
  func perform<Value: Sendable>(
    asked: TickInstant, _ work: @escaping @Sendable (System.Desk) throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      if !queue(asked: asked, work, done: { continuation.resume(with: $0) }) { continuation.resume(throwing: busy) }
    }
  }

  /// Queues work with the desk, after which `done` is called on the desk's thread.
  ///
  /// - Returns: whether there was room; if not, nothing is called.
  func queue<Value: Sendable>(
    asked: TickInstant, _ work: @escaping @Sendable (System.Desk) throws -> Value,
    done: @escaping @Sendable (Result<Value, any Error>) -> Void
  ) -> Bool {
    guard waiting.add(1, ordering: .relaxed).newValue <= Self.mostWaiting else {
      waiting.subtract(1, ordering: .relaxed)
      return false
    }
    thread.run { [self] in
      waiting.subtract(1, ordering: .relaxed)
      orders.begin(asked: asked)
      done(
        Result {
          do {
            return try work(desk)
          } catch let error as StoreError {
            throw APIError.storeFailed(error)
          }
        })
      return []
    }
    return true
  }
}

/// Makes the desk of a system that has one.
enum DeskMaking {
  /// Returns the desk, or `nil` if the system has none.
  ///
  /// - Throws: the errors of `System.desk`.
  static func desk<System: DeviceSystem>(
    of _: System.Type, _ made: DeskMaterial<System>
  ) throws -> (any RunningDesk)? {
    guard let serving = System.self as? any Serves.Type else { return nil }
    return try make(serving, made)
  }

  private static func make<Serving: Serves, System: DeviceSystem>(
    _: Serving.Type, _ made: DeskMaterial<System>
  ) throws -> any RunningDesk {
    // The two types are the same, so the cast succeeds.
    try HostedDesk<Serving>(made as! DeskMaterial<Serving>)
  }
}
