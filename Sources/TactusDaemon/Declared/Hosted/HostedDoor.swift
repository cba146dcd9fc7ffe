import Logging
import Service
import Synchronization
import Tactus
import Wire

/// The interface of a declared system to the service: its routes, events, metrics and Home Assistant entities.
///
/// Safe to use from any thread.
final class HostedDoor<System: DeviceSystem>: ServedSystem {
  typealias Loops = LoopMailbox<System.Order, System.Refusal, System.Notice, System.State, System.LoopRules>
  typealias Requests = Mailbox<Request<System.Order>, Answer<System.Refusal>>

  let name: String
  let at: SystemPlace
  /// The desk of the system, or `nil` if the system has none.
  let beside: (any RunningDesk)?
  private let loops: Loops
  let requests: Requests
  private let inbox: Mutex<Inbox>
  let document = SeenDocument<System>()
  private let answerDocument = SeenDocument<System>.ofAnswers
  /// Returns the context in which the system's state is shown at an instant.
  let look: @Sendable (TickInstant) -> Look<System>
  private let commands = System.commands
  /// The version of the state that was last sent to subscribers.
  private let toldVersion = Atomic(UInt64.max)
  /// The time in nanoseconds at which a client last read the state.
  private let watchedAt = Atomic<Int64>(-1_000_000_000)

  /// The notices of the loop that the main thread has not taken yet.
  private struct Inbox: ~Copyable {
    /// The reader of the notices, or `nil` if they are read elsewhere.
    var ring: RingReader<Told<System.Notice>>?
    /// The notices that have been heard and not been taken yet.
    var heard: [Told<System.Notice>] = []
  }

  /// Creates the interface.
  ///
  /// - Parameters:
  ///   - requests: the requests to the loop that the desk uses, too; unless given they are made.
  ///   - notices: the reader of the loop's notices, or `nil` if they are read elsewhere.
  ///   - ring: wakes the loop; unless given the bell of the mailbox is used.
  ///   - now: returns the time on the loop's clock. Called from any thread.
  init(
    _ loops: Loops, at place: SystemPlace, beside: (any RunningDesk)?, requests: Requests? = nil,
    notices: consuming RingReader<Told<System.Notice>>? = nil,
    look: @escaping @Sendable (TickInstant) -> Look<System> = { .standard(at: $0) },
    ring: (@Sendable () -> Void)? = nil,
    now: @escaping @Sendable () -> TickInstant = { MonotonicClock.now }
  ) {
    (self.loops, at, name, self.beside, self.look) = (loops, place, place.name, beside, look)
    self.requests = requests ?? Self.requests(of: place.name, loops, ring: ring, now: now)
    inbox = Mutex(Inbox(ring: notices))
  }

  /// Makes the requests to a loop, of which there is one object.
  static func requests(
    of name: String, _ loops: Loops, ring: (@Sendable () -> Void)? = nil,
    now: @escaping @Sendable () -> TickInstant = { MonotonicClock.now }
  ) -> Requests {
    let state = loops.state
    let button = System.takesOrders ? loops.requestButton : nil
    return Requests(
      of: name, requests: loops.requestWriter(), answers: loops.answerReader(),
      requestsPerTick: loops.requestsPerTick,
      newestTick: {
        var reader = state.reader()
        return reader.read().at
      },
      ring: ring ?? { button?.ring() }, now: now,
      isEmergencyStop: { System.takesOrders && $0.order == System.emergencyStop })
  }

  // MARK: answers and notices

  /// Delivers the loop's answers to the clients that sent the requests. The desk hears the notices before them.
  ///
  /// - Parameters:
  ///   - before: called when the answers are known and none has been delivered yet.
  ///   - told: called after `before` with each notice that has not been heard yet.
  func takeAnswers(
    at now: TickInstant, before: () -> Void = {}, told: (Told<System.Notice>) -> Void = { _ in }
  ) {
    requests.takeAnswers(at: now) {
      before()
      hear(at: now, alsoNothing: true, told)
    }
  }

  /// Returns the notices of the loop since the last call.
  ///
  /// - Parameter told: called with each notice that has not been heard.
  func takeNotices(told: (Told<System.Notice>) -> Void = { _ in }) -> [Told<System.Notice>] {
    hear(at: requests.now(), alsoNothing: false, told)
    return inbox.withLock { inbox in
      defer { inbox.heard = [] }
      return inbox.heard
    }
  }

  private func hear(at now: TickInstant, alsoNothing: Bool, _ told: (Told<System.Notice>) -> Void) {
    let new = inbox.withLock { inbox in
      let new = Self.pop(&inbox)
      inbox.heard += new
      return new
    }
    if let beside, beside.hearsNotices, alsoNothing || !new.isEmpty { beside.hear(new, at: now) }
    for notice in new { told(notice) }
  }

  private static func pop(_ inbox: inout Inbox) -> [Told<System.Notice>] {
    var told: [Told<System.Notice>] = []
    while let notice = inbox.ring?.pop() { told.append(notice) }
    return told
  }

  // MARK: state

  /// The version of the document. The version of the loop's state stays below 2^32 for years, so the version of the
  /// look is added in the upper 32 bits.
  var version: UInt64 { loops.state.version.read() &+ document.version(look(.zero)) &* 0x1_0000_0000 }

  var published: Published<System.State> {
    var reader = loops.state.reader()
    return reader.read()
  }
  var newest: System.State { published.state }

  var state: [UInt8] {
    let published = published
    return document.json(
      published, look(instant(of: published)), after: Self.stateHasTick ? [.tick(published.at)] : [])
  }

  /// Whether the state contains the instant of its tick, as that of a system with hand-written documents does.
  static var stateHasTick: Bool { System.self is any HasDocuments.Type && !System.isWithoutLoops }

  /// Returns the instant at which a published state is shown: its tick, or the present time if it was not published by
  /// a loop or the system shows the present.
  private func instant(of published: Published<System.State>) -> TickInstant {
    if System.isWithoutLoops { return requests.now() }
    return Self.showsPresent ? max(requests.now(), published.at) : published.at
  }

  private static var showsPresent: Bool { (System.self as? any Sees.Type)?.showsPresent ?? false }

  var statusMembers: [UInt8]? {
    let published = published
    return (System.self as? any Sees.Type)?.shownInStatus(published, look(instant(of: published)))
  }

  /// Returns each value of the newest state together with its path.
  ///
  /// - Parameter now: the instant at which the state is shown, or `nil` for the tick that published it.
  func leaves(at now: TickInstant? = nil) -> [FieldLeaf] {
    let published = published
    return document.leaves(of: published, look(now ?? instant(of: published)))
  }

  /// The items of all lists in the state.
  var parts: [StatePart] {
    let published = published
    return document.shapes.parts(document.values(of: published, look(instant(of: published))), in: name)
  }

  /// The value of the field `state` in the newest state, or `nil` if there is no such field whose value is a word.
  var word: String? {
    let published = published
    return document.text("state", of: published, look(instant(of: published)))
  }

  func events(at now: TickInstant, second: Bool) -> [Event] {
    let (version, published) = (version, published)
    if System.isWithoutLoops {
      let told = beside?.events(at: now) ?? []
      guard second else { return told }
      return told + [Event(.state, type: name, system: name, at: now, body: document.json(published, look(now)))]
    }
    let look = look(Self.showsPresent ? max(now, published.at) : published.at)
    let own = (System.self as? any Sees.Type)?.toldAtBeat(published, look) ?? []
    let isNews = toldVersion.exchange(version, ordering: .relaxed) != version || !Self.showsPresent
    guard second || document.hasTelemetry && isNews else { return own }
    let body = second ? document.json(published, look) : document.telemetry(published, look)
    let frames = (System.self as? any TakesFrames.Type)?.sent(published, look) ?? []
    return [Event(second ? .state : .telemetry, type: name, system: name, at: published.at, body: body)]
      + frames.map { Event(.frame(client: $0.client), type: $0.type, system: name, at: published.at, body: $0.bytes) }
      + own
  }

  /// Logs a notice and returns its event for subscribers, or `nil` if subscribers receive none.
  func logged(_ told: Told<System.Notice>, _ logger: Logger) -> Event? {
    let full = System.inFull(told, look(told.at))
    logger.log(
      level: full.level, "\(full.message)", metadata: full.metadata.merging(["system": .string(name)]) { $1 })
    return edge(full, at: told.at)
  }

  /// Returns the event of a notice for subscribers, or `nil` if subscribers receive none.
  func edge(_ told: Told<System.Notice>) -> Event? {
    edge(System.inFull(told, look(told.at)), at: told.at)
  }

  private func edge(_ told: ToldInFull, at instant: TickInstant) -> Event? {
    told.type.map { Event(.edge, type: $0, system: name, at: instant, body: told.body) }
  }

  // MARK: commands

  var routes: [Route] {
    if System.isWithoutLoops { return [lookRoute] + (beside?.routes ?? []) }
    let prepared = PreparedDocument(
      version: { [self] in version },
      make: { [self] in
        tellWatched()
        let published = published
        let own: [JSONValue.Member] = [.init(name: "ok", value: .boolean(true)), .tick(published.at)]
        return document.json(published, look(instant(of: published)), after: own)
      })
    let stops = [
      route("e-stop", System.emergencyStop, makesSafe: true), route("reset", System.reset, makesSafe: false),
    ]
    let made =
      [Route("/api/\(name)", prepared)] + commands.map { route($0) } + (System.takesOrders ? stops : [])
    let own = beside?.routes ?? []
    // A route of the desk replaces the generated route with the same method and path.
    return made.filter { made in !own.contains { $0.method == made.method && $0.path == made.path } } + own
  }

  /// Notifies the loop that a client has read the state, if `whenWatched` has an order for that.
  private func tellWatched() {
    let now = requests.now()
    guard let watched = System.self as? any Sees.Type, let order = watched.watching(look(now).wiring),
      watchedAt.load(ordering: .relaxed) < now.nanoseconds - 1_000_000_000
    else { return }
    watchedAt.store(now.nanoseconds, ordering: .relaxed)
    // The values are this system's, passed without their types.
    requests.send(order as! System.Order, makesSafe: false, client: 0) { _ in }
  }

  /// The route that returns the state of a system without loops. Ages in the document are computed for each request.
  private var lookRoute: Route {
    Route(.get, "/api/\(name)") { [self] _ in
      let ok = JSONValue.Member(name: "ok", value: .boolean(true))
      let published = published
      let body = document.json(published, look(instant(of: published)), after: [ok])
      return APIResponse(contentType: "application/json", body: body)
    }
  }

  /// Returns the order of a command, or of `e-stop` or `reset`, and whether the order can only make the system safer.
  ///
  /// - Throws: an `APIError` with status 404 if there is no such command, or 422 if the body is invalid.
  func order(_ word: String, _ body: JSONValue) throws(APIError) -> (order: System.Order, makesSafe: Bool) {
    if word == "e-stop" { return (System.emergencyStop, true) }
    if word == "reset" { return (System.reset, false) }
    let parts = word.split(separator: "/", maxSplits: 1).map { String($0) }
    guard let name = parts.last,
      let command = commands.first(where: { $0.name == name && ($0.items == nil) == (parts.count == 1) })
    else { throw .notFound("no such command") }
    let index = try command.items?.index(parts[0], in: look(.zero).wiring)
    let request = APIRequest(caller: Caller(scope: .control, tokenID: nil, address: "", client: 0), body: body.bytes)
    let order = try command.read(request, index ?? 0).0
    return (order, command.makesSafe(order))
  }

  private func route(_ command: Command<System.Order>) -> Route {
    Route(.post, "/api/\(name)/\(command.path)", scope: command.scope.scope, action: "\(name).\(command.name)") {
      [requests] request in
      let index = try command.items?.index(request.parameters["index"] ?? "", in: self.look(.zero).wiring)
      let item = command.items.flatMap { items in index.map { (each: items.each, index: $0) } }
      // A command without parameters takes any body, or none, as `e-stop` does.
      let lacksBody = command.parameters.isEmpty || command.mayLackBody && request.body.isEmpty
      let (order, value) = try command.read(lacksBody ? .empty : request, index ?? 0)
      let answer = try await requests.ask(
        order, makesSafe: command.makesSafe(order), client: request.caller.client,
        asked: request.caller.asks(index.map { .item($0) } ?? .whole))
      let words = [item.map { "\($0.each)=\($0.index)" }, value].compactMap(\.self).joined(separator: " ")
      return self.done(try self.accepted(answer), of: item, logValue: words.isEmpty ? nil : words)
    }.makingSafe(command.alwaysMakesSafe)
  }

  private func route(_ word: String, _ order: System.Order, makesSafe: Bool) -> Route {
    Route(.post, "/api/\(name)/\(word)", scope: .control, action: "\(name).\(word)") { [requests] request in
      let answer = try await requests.ask(
        order, makesSafe: makesSafe, client: request.caller.client, asked: request.caller.asks())
      return self.done(try self.accepted(answer), logValue: nil)
    }.makingSafe(makesSafe)
  }

  /// Returns the answer, or throws the refusal as an error if the loop refused the order.
  private func accepted(_ answer: Answer<System.Refusal>) throws(APIError) -> Answer<System.Refusal> {
    try answer.accepted { System.sentence(of: $0, newest) }
  }

  /// Returns the response to a command that the loop has taken.
  ///
  /// - Parameter item: the item that the command was for, or `nil` if the command was for the system.
  private func done(
    _ answer: Answer<System.Refusal>, of item: (each: String, index: Int)? = nil, logValue: String?
  ) -> APIResponse {
    let published = published
    let told: [JSONValue.Member] =
      if let answerDocument {
        answerDocument.members(published, look(instant(of: published)), of: item)
      } else {
        word.map { [.init(name: "state", value: .text($0))] } ?? []
      }
    let first: [JSONValue.Member] = [
      .init(name: "ok", value: .boolean(true)), .init(name: "verdict", value: .text("accepted")),
    ]
    let at = JSONValue.Member(name: "monotonicNs", value: .number("\(answer.at.nanoseconds)"))
    let body = JSONValue.object(first + told + [at])
    return APIResponse(contentType: "application/json", body: body.bytes, logValue: logValue)
  }

  // A stop on its way is checked first, since its answer comes after the state that shows it.
  var isEmergencyStopped: Bool { requests.isEmergencyStopOnItsWay || System.isEmergencyStopped(newest) }

  func holdEmergencyStop() {
    guard System.takesOrders else { return }
    requests.send(System.emergencyStop, makesSafe: true, client: 0, asked: Asked(at: requests.now())) { _ in }
  }

  func emergencyStop(_ caller: Caller) async throws {
    guard System.takesOrders else { return }
    let answer = try await requests.ask(
      System.emergencyStop, makesSafe: true, client: caller.client, asked: caller.asks())
    _ = try accepted(answer)
  }

  /// Resets the system. A refusal because there is nothing to reset is not an error, since the requested state is
  /// reached.
  func reset(_ caller: Caller) async throws {
    guard System.takesOrders else { return }
    let answer = try await requests.ask(
      System.reset, makesSafe: false, client: caller.client, asked: caller.asks())
    if case .refused(let refusal) = answer.verdict, refusal.rawValue == System.nothingToReset?.rawValue { return }
    _ = try accepted(answer)
  }

  func receive(
    frame: [UInt8], from caller: Caller, answer: @escaping @Sendable (FrameOutcome) -> Void
  ) -> Bool {
    guard let taking = System.self as? any TakesFrames.Type else { return false }
    return taking.takes(frame, from: caller, FrameDoor(door: self, caller: caller, answer: answer))
  }

  var sockets: [SystemSocket] {
    (System.self as? any TakesFrames.Type)?.hosted(on: self, look(.zero)) ?? []
  }

  func clientLeft(_ caller: Caller) {
    (System.self as? any TakesFrames.Type)?.forgotten(caller.client, look(published.at))
    guard let order = System.whenClientLeaves else { return }
    requests.send(order, makesSafe: true, client: caller.client) { _ in }
  }
}

extension JSONValue.Member {
  /// Returns the member with the instant of the tick that a document shows.
  fileprivate static func tick(_ at: TickInstant) -> JSONValue.Member {
    JSONValue.Member(name: "monotonicNs", value: .number("\(at.nanoseconds)"))
  }
}
