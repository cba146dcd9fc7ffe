import Service
import Store
import Synchronization
import Tactus
import WallTime
import Wire

/// What a running system has beside its loops, without the type of its desk.
protocol RunningDesk: AnyObject, Sendable {
  /// Its routes, and what the OpenAPI document says of each: path, method and operation.
  var routes: [Route] { get }
  var descriptions: [(path: String, method: RouteMethod, scope: Scope, description: RouteDescription)] { get }
  /// The desk's thread.
  var thread: DeskThread { get }
  /// Once a second, with the newest `Published`.
  func beat(_ newest: any Sendable, at now: TickInstant)
  /// With a `Told`.
  func told(_ notice: any Sendable)
  /// The last call; waits for the disk.
  func finish(_ last: any Sendable)
}

/// The desk of a running system, its thread, its tables and its routes.
///
/// The desk itself is touched on the thread only.
// Safe: desk and tables belong to the thread.
final class HostedDesk<System: Serves>: RunningDesk, @unchecked Sendable {
  let thread: DeskThread
  private let name: String
  let desk: System.Desk
  private let tables: OpenedTables
  private let clock: WatchedWallClock
  private var nextPrune = TickInstant.zero
  private let waiting = Atomic(0)

  /// Requests that may wait for the desk.
  private static var mostWaiting: Int { 64 }
  private static var prunePeriod: Nanoseconds { .seconds(3_600) }

  /// - Throws: what `System.desk` throws.
  init(_ made: DeskMaterial<System>) throws {
    thread = DeskThread(made.name)
    (name, tables, clock) = (made.name, made.opened, made.clock)
    desk = try System.desk(made)
  }

  func told(_ notice: any Sendable) {
    guard let notice = notice as? Told<System.Notice> else { return }
    thread.run { [self] in
      desk.told(notice)
      return []
    }
  }

  func beat(_ newest: any Sendable, at now: TickInstant) {
    guard let newest = newest as? Published<System.State> else { return }
    thread.beat { [self] in
      for table in tables.retried { table.retry() }
      desk.beat(newest)
      prune(at: now)
      return []
    }
  }

  func finish(_ last: any Sendable) {
    thread.finish {
      if let last = last as? Published<System.State> { desk.finish(last) }
      for table in tables.retried { table.retry() }
    }
  }

  /// By age only if the clock is sure, and until it is that is looked at again soon; by number whatever it says.
  private func prune(at now: TickInstant) {
    guard now >= nextPrune else { return }
    let reading = clock.now
    nextPrune = now + (reading.mayDelete ? Self.prunePeriod : .seconds(60))
    for (shape, rows) in tables.all {
      // What the store refuses now is pruned the next time.
      if reading.mayDelete, let days = shape.days {
        _ = try? rows?.prune(before: WallInstant(secondsSince1970: reading.secondsSince1970) - Int64(days) * 86_400)
      }
      _ = try? rows?.prune(beyond: shape.most)
    }
  }

  // MARK: routes

  var descriptions: [(path: String, method: RouteMethod, scope: Scope, description: RouteDescription)] {
    System.routes.map { ("/api/\(name)/\($0.path.text)", $0.method, $0.scope, $0.description) }
  }

  var routes: [Route] { System.routes.map { route($0) } }

  private func route(_ route: SystemRoute<System.Desk>) -> Route {
    let path = "/api/\(name)/\(route.path.text)"
    switch route.source {
    case .desk(let handler):
      let handle: @Sendable (APIRequest) async throws -> APIResponse = { [self] in try await ask(handler, $0) }
      let action = "\(name).\(route.path.text)"
      return switch route.method {
      case .get: Route(.get, path, scope: route.scope, handle)
      case .post: Route(.post, path, scope: route.scope, action: action, handle)
      case .put: Route(.put, path, scope: route.scope, action: action, handle)
      case .delete: Route(.delete, path, scope: route.scope, action: action, handle)
      }
    case .rows(let row, let isCSV):
      guard let table = tables.all.first(where: { $0.shape.row == row }), let rows = table.rows else {
        preconditionFailure("\(path) shows a table that `tables` of \(System.self) does not have")
      }
      let history = RowHistory(
        rows: rows, shape: table.shape.rows, file: String(path.dropFirst(5)).replacing("/", with: "-"))
      return Route(.get, path, scope: route.scope) { try isCSV ? history.csv($0) : history.page($0) }.waitingForDisk()
    }
  }

  private func ask(
    _ handler: @escaping SystemRoute<System.Desk>.Handler, _ request: APIRequest
  ) async throws -> APIResponse {
    guard waiting.add(1, ordering: .relaxed).newValue <= Self.mostWaiting else {
      waiting.subtract(1, ordering: .relaxed)
      throw APIError(.serviceUnavailable, "BUSY", "\(Self.mostWaiting) requests wait for \(name) already; try again")
    }
    return try await withCheckedThrowingContinuation { continuation in
      thread.run { [self] in
        waiting.subtract(1, ordering: .relaxed)
        continuation.resume(
          with: Result {
            do {
              return try handler(desk, request)
            } catch let error as StoreError {
              throw APIError.storeFailed(error)
            }
          })
        return []
      }
    }
  }
}

/// Makes the desk of a system that has one.
enum DeskMaking {
  /// - Throws: what `System.desk` throws.
  static func desk<System: DeviceSystem>(
    of _: System.Type, _ made: DeskMaterial<System>
  ) throws -> (any RunningDesk)? {
    guard let serving = System.self as? any Serves.Type else { return nil }
    return try make(serving, made)
  }

  private static func make<Serving: Serves, System: DeviceSystem>(
    _: Serving.Type, _ made: DeskMaterial<System>
  ) throws -> any RunningDesk {
    // The two are one type.
    try HostedDesk<Serving>(made as! DeskMaterial<Serving>)
  }
}
