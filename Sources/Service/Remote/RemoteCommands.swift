@_spi(FromOutside) import Conversions
import HTTPTypes
import Logging
import Synchronization
import Tactus
import Wire

/// Carries out commands received over a messaging link (MQTT) by the rules of the HTTP service: the same handlers, the same answers.
///
/// The commands of one system are carried out one after another, in their order; what makes a system safe (`Route.makesSafe`) is carried out at once,
/// beside a command that may wait for a disk, and makes void what waits before it (`Mailbox.send`). All senders on the link count as one client,
/// because the link does not identify them. It may be used from any thread; `receive` does not wait.
public final class RemoteCommands: Sendable {
  /// The number of commands a second that are accepted for all systems together, and in a burst after a silence; stops are not counted.
  public static let commandsPerSecond = 100
  /// The greatest number of refused commands that are logged in a second, and in a burst after a pause.
  static let refusalsToldPerSecond = 10
  /// The number of commands that may wait for one system.
  static let waitingLimit = 64
  /// The number of stops of one system that may be in progress at a time; an e-stop is not counted.
  static let stopsAtOnce = 64
  /// The greatest number of levels in a path.
  static let longestPath = 8
  /// The greatest time that a command may wait for the commands before it; a command that waited longer is refused.
  static let patience = Nanoseconds.seconds(1)

  /// A function that is called once, on any thread, with the body that HTTP would answer, preceded by the command's
  /// `id` if the command has one.
  public typealias Answer = @Sendable ([UInt8]) -> Void

  private struct Work: Sendable {
    let command: RemoteCommand
    let route: Route
    let parameters: [String: String]
    let came: TickInstant
    let answer: Answer
    /// The error of a stop that names an unknown system and is therefore a stop of everything; `nil` if there is none.
    var flaw: APIError?
  }

  private struct Lane {
    var waiting: [Work] = []
    var isBusy = false
    var stops = 0
  }

  private struct State {
    /// The queue of each route table.
    var lanes: [String: Lane]
    var outcomes: [String: Int64] = [:]
    /// The instant at which the full burst is allowed again; each command moves it by one interval (a token bucket).
    var wholeAt = TickInstant.zero
    /// The instant at which the full burst of logged refusals is allowed again, as `wholeAt` for commands.
    var refusalsWholeAt = TickInstant.zero
    var untold: Int64 = 0
  }

  private let systems: [any ServedSystem]
  /// The command routes of each system by its name; `all` has those for all systems.
  private let tables: [String: RouteTable]
  private let caller: Caller
  private let actions: ActionLog
  private let logger: Logger
  private let now: @Sendable () -> TickInstant
  private let state: Mutex<State>

  /// Makes the commands of these systems for one link.
  ///
  /// - Parameter link: the name of the link in the log: `mqtt`.
  public init(
    _ systems: [any ServedSystem], link: String, logger: Logger,
    now: @escaping @Sendable () -> TickInstant = { MonotonicClock.now }
  ) {
    self.systems = systems
    let all = DoorRoutes(systems: systems, health: ServiceHealth(), version: "")
    var tables = [Self.everySystem: RouteTable(all.routes.filter(Self.isCommand))]
    for system in systems { tables[system.name] = RouteTable(system.routes.filter(Self.isCommand)) }
    self.tables = tables
    state = Mutex(State(lanes: tables.mapValues { _ in Lane() }))
    // No HTTP or WebSocket client has the number 0.
    caller = Caller(scope: .control, tokenID: nil, address: link, client: 0)
    actions = ActionLog(logger: logger)
    self.logger = logger
    self.now = now
  }

  private static let everySystem = "all"

  private static func isCommand(_ route: Route) -> Bool {
    route.method == .post && route.scope == .control && route.action != nil && route.fileLimit == nil
      && route.path.hasPrefix("/api/")
  }

  /// The number of commands by outcome: `ok`, or the code of the refusal.
  public var outcomes: [String: Int64] { state.withLock { $0.outcomes } }

  /// Receives a command and carries it out. `answer` is called once, on any thread, with the body that HTTP would answer and the command's `id`.
  ///
  /// - Parameters:
  ///   - path: the levels of the topic: `["robot"]`, `["sprinkler", "zone", "1"]`; empty for all systems.
  ///   - isOld: whether the broker had retained the command; it is then refused, because its age is unknown.
  public func receive(path: [String], payload: [UInt8], isOld: Bool, answer: @escaping Answer) {
    let command: RemoteCommand
    do throws(APIError) {
      command = try RemoteCommand(payload)
    } catch {
      return refuseUnheard(error, id: nil, path, answer)
    }
    do throws(APIError) {
      let now = now()
      guard !isOld else {
        throw .conflict("RETAINED", "the broker had kept the command (retained); publish it without retain")
      }
      let (lane, place, flaw) = try concerned(by: command, path)
      let work = Work(
        command: command, route: place.routes[0], parameters: place.parameters, came: now, answer: answer, flaw: flaw)
      if command.isEmergencyStop {
        Task { await run(work) }
      } else if work.route.makesSafe {
        try stop(work, lane)
      } else {
        try enqueue(work, lane, at: now)
      }
    } catch {
      refuseUnheard(error, id: command.id, path, answer)
    }
  }

  /// Handles the loss of the link: systems release what clients of the link held, as when a WebSocket closes. Commands
  /// that have not begun are dropped; stops are under way already.
  public func linkLost() {
    let dropped = state.withLock { state in
      state.lanes.keys.flatMap { lane in
        defer { state.lanes[lane]!.waiting = [] }
        return state.lanes[lane]!.waiting
      }
    }
    for work in dropped {
      let error = APIError.conflict("LINK_LOST", "the link was lost before the command's turn came")
      note(work.route, result: error.code)
      refuse(error, id: work.command.id, work.answer)
    }
    for system in systems { system.clientLeft(caller) }
  }

  // MARK: the way to a handler

  /// Returns the destination of a command. An e-stop of an unknown system stops everything, because the sender of an e-stop hardly ever reads the
  /// reply.
  private func concerned(
    by command: RemoteCommand, _ path: [String]
  ) throws(APIError) -> (lane: String, place: RouteTable.Place, flaw: APIError?) {
    do throws(APIError) {
      let (lane, place) = try place(of: command, path)
      return (lane, place, nil)
    } catch {
      guard command.isEmergencyStop else { throw error }
      let (lane, place) = try place(of: command, [])
      return (lane, place, error)
    }
  }

  private func place(
    of command: RemoteCommand, _ path: [String]
  ) throws(APIError) -> (lane: String, RouteTable.Place) {
    // The name of one of several systems has two levels.
    let two = path.prefix(2).joined(separator: "/")
    let levels = path.count >= 2 && tables[two] != nil ? 2 : 1
    let name = levels == 2 ? two : path.first ?? Self.everySystem
    guard path.count <= Self.longestPath, path.first != Self.everySystem, let table = tables[name] else {
      throw .notFound("no system of that name; there is \(systems.map(\.name).joined(separator: ", "))")
    }
    let rest = path.dropFirst(levels) + [command.word]
    let place = table.place(["api"] + path.prefix(levels) + rest) ?? table.place(["api"] + rest)
    guard let place else {
      let known = Set(table.routes.map { Self.known($0, of: name) }).sorted()
      throw .notFound("no such command; there is \(known.joined(separator: ", "))")
    }
    return (name, place)
  }

  /// Returns a command as an error lists it: `zone/{id} on`.
  private static func known(_ route: Route, of system: String) -> String {
    let (item, word) = topic(of: route, system)
    return (item.isEmpty ? "" : item + " ") + word
  }

  /// Returns the item and the word of a route's command: `zone/{id}` and `on`.
  private static func topic(of route: Route, _ system: String) -> (item: String, word: String) {
    var segments = route.path.split(separator: "/").dropFirst()
    let levels = system.split(separator: "/")
    if segments.starts(with: levels) { segments = segments.dropFirst(levels.count) }
    return (segments.dropLast().joined(separator: "/"), String(segments.last ?? ""))
  }

  /// The topic below the device's topic and the word of every command, by its route `POST /api/zone/{id}/on`.
  var topics: [String: (topic: String, word: String)] {
    tables.reduce(into: [:]) { topics, table in
      for route in table.value.routes {
        let (item, word) = Self.topic(of: route, table.key)
        let levels = [table.key == Self.everySystem ? "" : table.key, item, "command"].filter { !$0.isEmpty }
        topics["\(route.method) \(route.path)"] = (levels.joined(separator: "/"), word)
      }
    }
  }

  private func stop(_ work: Work, _ lane: String) throws(APIError) {
    let hasRoom = state.withLock { state in
      guard state.lanes[lane]!.stops < Self.stopsAtOnce else { return false }
      state.lanes[lane]!.stops += 1
      return true
    }
    guard hasRoom else {
      throw APIError(.tooManyRequests, "BUSY", "\(Self.stopsAtOnce) stops are in progress already")
    }
    let counted = Work(
      command: work.command, route: work.route, parameters: work.parameters, came: work.came,
      answer: { [self] document in
        // The count falls before the answer, since a client that has the answer may send the next command.
        state.withLock { $0.lanes[lane]!.stops -= 1 }
        work.answer(document)
      })
    Task { await run(counted) }
  }

  private func enqueue(_ work: Work, _ lane: String, at now: TickInstant) throws(APIError) {
    let (refusal, starts) = state.withLock { state -> (APIError?, Bool) in
      guard Self.hasRoom(Self.commandsPerSecond, at: now, &state.wholeAt) else {
        let message = "more than \(Self.commandsPerSecond) commands a second"
        return (APIError(.tooManyRequests, "TOO_MANY_COMMANDS", message), false)
      }
      guard state.lanes[lane]!.waiting.count < Self.waitingLimit else {
        return (
          APIError(.tooManyRequests, "BUSY", "\(Self.waitingLimit) commands wait for those before them already"), false
        )
      }
      state.lanes[lane]!.waiting.append(work)
      let starts = !state.lanes[lane]!.isBusy
      state.lanes[lane]!.isBusy = true
      return (nil, starts)
    }
    if let refusal { throw refusal }
    if starts { Task { await drain(lane) } }
  }

  /// Takes a place in a burst of `count` commands a second. Returns whether there was one.
  private static func hasRoom(_ count: Int, at now: TickInstant, _ wholeAt: inout TickInstant) -> Bool {
    let next = (wholeAt < now ? now : wholeAt) + .milliseconds(1_000 / Int64(count))
    guard next <= now + .seconds(1) else { return false }
    wholeAt = next
    return true
  }

  private func drain(_ lane: String) async {
    while let work = next(lane) {
      if Self.patience < now() - work.came {
        let error = APIError.conflict("STALE", "the command waited more than \(Self.patience) for those before it")
        note(work.route, result: error.code)
        refuse(error, id: work.command.id, work.answer)
      } else {
        await run(work)
      }
    }
  }

  private func next(_ lane: String) -> Work? {
    state.withLock { state in
      guard !state.lanes[lane]!.waiting.isEmpty else {
        state.lanes[lane]!.isBusy = false
        return nil
      }
      return state.lanes[lane]!.waiting.removeFirst()
    }
  }

  private func run(_ work: Work) async {
    guard case .handler(let handle) = work.route.handling else { preconditionFailure("a command without a handler") }
    do {
      let response = try await work.route.run(
        handle,
        APIRequest(caller: caller.with(arrival: work.came), parameters: work.parameters, body: work.command.body))
      let fields = work.route.logFields(of: work.parameters).merging(response.logFields) { $1 }
      note(work.route, value: response.logValue, fields: fields, result: "ok")
      let why = work.flaw.map { encodeJSON("\($0.message): everything was stopped") }
      let document = why.map { Self.adding("message", $0, to: response.body) } ?? response.body
      finish("ok", document, id: work.command.id, work.answer)
    } catch {
      let refusal: APIError
      if let error = error as? APIError {
        refusal = error
      } else {
        logger.error("a command failed", metadata: ["route": "\(work.route.path)", "reason": "\(error)"])
        refusal = APIError(.internalServerError, "INTERNAL", "the daemon could not do it; its log says why")
      }
      note(work.route, fields: work.route.logFields(of: work.parameters), result: refusal.code)
      refuse(refusal, id: work.command.id, work.answer)
    }
  }

  private func note(_ route: Route, value: String? = nil, fields: [String: String] = [:], result: String) {
    guard let action = route.action else { return }
    actions.note(action, value: value, fields: fields, address: caller.address, tokenID: nil, result: result)
  }

  /// Refuses a command that has reached no handler. The refusal is also logged, because the sender need not read replies.
  private func refuseUnheard(_ error: APIError, id: JSONValue?, _ path: [String], _ answer: Answer) {
    if error.status != .tooManyRequests, let untold = placeInLog() {
      var metadata: Logger.Metadata = [
        "caller": .string(caller.address), "path": .string(JSONValue.shortened(path.joined(separator: "/"))),
        "code": .string(error.code), "reason": .string(error.message),
      ]
      if untold > 0 { metadata["untold"] = .stringConvertible(untold) }
      logger.notice("a command was refused", metadata: metadata)
    }
    refuse(error, id: id, answer)
  }

  /// Returns the number of refusals since the last logged one, or `nil` if the present refusal is not to be logged. The log is limited because a
  /// client may publish commands without end.
  private func placeInLog() -> Int64? {
    let now = now()
    return state.withLock { state in
      guard Self.hasRoom(Self.refusalsToldPerSecond, at: now, &state.refusalsWholeAt) else {
        state.untold += 1
        return nil
      }
      defer { state.untold = 0 }
      return state.untold
    }
  }

  private func refuse(_ error: APIError, id: JSONValue?, _ answer: Answer) {
    finish(error.code, error.response.body, id: id, answer)
  }

  /// Counts the outcome and passes on the answer with the `id` as its first member.
  private func finish(_ outcome: String, _ document: [UInt8], id: JSONValue?, _ answer: Answer) {
    state.withLock { $0.outcomes[outcome, default: 0] += 1 }
    answer(id.map { Self.adding("id", $0.bytes, to: document) } ?? document)
  }

  /// Returns the document with another first member, or as it is if it is no object.
  private static func adding(_ name: String, _ value: [UInt8], to document: [UInt8]) -> [UInt8] {
    guard document.first == UInt8(ascii: "{") else { return document }
    let separator = document.count > 2 ? [UInt8(ascii: ",")] : []
    return Array(#"{"\#(name)":"#.utf8) + value + separator + Array(document.dropFirst())
  }
}
