import Service
import Synchronization
import Tactus
import Wire

/// A declared system as the service sees it: routes, events, metrics, what Home Assistant shows of it.
///
/// Any thread.
final class HostedDoor<System: DeviceSystem>: ServedSystem {
  typealias Loops = LoopMailbox<System.Order, System.Refusal, System.Notice, System.State, System.LoopRules>
  typealias Requests = Mailbox<Request<System.Order>, Answer<System.Refusal>>

  let name: String
  let at: SystemPlace
  /// Its desk, or `nil` if it has none.
  let beside: (any RunningDesk)?
  private let loops: Loops
  let requests: Requests
  let document = StateDocument(of: System.name, System.fields)
  private let commands = System.commands
  /// From a request for an e-stop to an accepted reset: what the loop does meanwhile is its own.
  private let isStopped = Atomic(false)

  init(
    _ loops: Loops, at place: SystemPlace, beside: (any RunningDesk)?,
    now: @escaping @Sendable () -> TickInstant = { MonotonicClock.now }
  ) {
    (self.loops, at, name, self.beside) = (loops, place, place.name, beside)
    let state = loops.state
    let button = loops.requestButton
    requests = Requests(
      of: place.name, requests: loops.requestWriter(), answers: loops.answerReader(),
      requestsPerTick: loops.requestsPerTick,
      newestTick: {
        var reader = state.reader()
        return reader.read().at
      },
      ring: { button.ring() }, now: now)
  }

  // MARK: state

  var version: UInt64 { loops.state.version.read() }

  var published: Published<System.State> {
    var reader = loops.state.reader()
    return reader.read()
  }
  var newest: System.State { published.state }

  var state: [UInt8] { document.json(newest) }

  /// Each item of each list.
  var parts: [StatePart] {
    let newest = newest
    return document.fields.flatMap { field -> [StatePart] in
      guard case .items(let items) = field.shape.content, case .items(let list) = field.read(newest) else { return [] }
      return list.enumerated().map { index, values in
        StatePart(
          FieldItem(list: field.shape.name, each: items.each, number: items.first + index).topic(of: name),
          encoded: JSONValue.object(items.fields.members(values)).bytes)
      }
    }
  }

  /// The field `state`, or `nil` if there is none that is a word.
  func word(of state: System.State) -> String? {
    guard let field = document.fields.first(where: { $0.shape.name == "state" }),
      case .plain(.text(let word)) = field.read(state)
    else { return nil }
    return word
  }

  func events(at now: TickInstant, second: Bool) -> [Event] {
    requests.takeAnswers(at: now)
    let published = published
    let body = second ? document.json(published.state) : document.telemetry(published.state)
    return [Event(second ? .state : .telemetry, type: name, system: name, at: published.at, body: body)]
  }

  /// What subscribers are told of a notice.
  func edge(_ told: Told<System.Notice>) -> Event {
    let body: JSONValue = .object([
      "notice": .text(told.notice.rawValue), "trouble": .boolean(told.notice.isTrouble),
      "message": .text(told.notice.sentence),
    ])
    return Event(.edge, type: "\(name).notice", system: name, at: told.at, body: body.bytes)
  }

  // MARK: commands

  var routes: [Route] {
    let loops = loops
    let prepared = PreparedDocument(
      version: { loops.state.version.read() },
      make: { [self] in
        let published = published
        let own: [JSONValue.Member] = [
          .init(name: "ok", value: .boolean(true)),
          .init(name: "monotonicNs", value: .number("\(published.at.nanoseconds)")),
        ]
        return document.json(published.state, after: own)
      })
    return [Route("/api/\(name)", prepared)] + commands.map { route($0) } + [
      route("e-stop", System.emergencyStop, makesSafe: true), route("reset", System.reset, makesSafe: false),
    ] + (beside?.routes ?? [])
  }

  /// The order of a command's name, or of `e-stop` or `reset`, and whether it can only make the system safer.
  ///
  /// - Throws: 404, 422.
  func order(_ word: String, _ body: JSONValue) throws(APIError) -> (order: System.Order, makesSafe: Bool) {
    if word == "e-stop" { return (System.emergencyStop, true) }
    if word == "reset" { return (System.reset, false) }
    guard let command = commands.first(where: { $0.name == word }) else { throw .notFound("no such command") }
    let request = APIRequest(caller: Caller(scope: .control, tokenID: nil, address: "", client: 0), body: body.bytes)
    return (try command.read(request).0, command.makesSafe)
  }

  private func route(_ command: Command<System.Order>) -> Route {
    Route(.post, "/api/\(name)/\(command.name)", scope: command.scope.scope, action: "\(name).\(command.name)") {
      [requests] request in
      // A command without parameters takes any body, or none, as `e-stop` does.
      let lacksBody = command.parameters.isEmpty || command.mayLackBody && request.body.isEmpty
      let (order, value) = try lacksBody ? command.withoutBody() : command.read(request)
      let answer = try await requests.ask(order, makesSafe: command.makesSafe, client: request.caller.client)
      return self.done(try answer.accepted(), logValue: value)
    }
  }

  private func route(_ word: String, _ order: System.Order, makesSafe: Bool) -> Route {
    Route(.post, "/api/\(name)/\(word)", scope: .control, action: "\(name).\(word)") { [requests] request in
      if makesSafe { self.isStopped.store(true, ordering: .releasing) }
      let answer = try await requests.ask(order, makesSafe: makesSafe, client: request.caller.client).accepted()
      if !makesSafe { self.isStopped.store(false, ordering: .releasing) }
      return self.done(answer, logValue: nil)
    }
  }

  private func done(_ answer: Answer<System.Refusal>, logValue: String?) -> APIResponse {
    let body: JSONValue = .object([
      "ok": .boolean(true), "verdict": .text("accepted"), "state": word(of: newest).map { .text($0) },
      "monotonicNs": .number("\(answer.at.nanoseconds)"),
    ])
    return APIResponse(contentType: "application/json", body: body.bytes, logValue: logValue)
  }

  var isEmergencyStopped: Bool { isStopped.load(ordering: .acquiring) }

  func holdEmergencyStop() {
    isStopped.store(true, ordering: .releasing)
    requests.send(System.emergencyStop, makesSafe: true, client: 0) { _ in }
  }

  func emergencyStop(_ caller: Caller) async throws {
    isStopped.store(true, ordering: .releasing)
    _ = try await requests.ask(System.emergencyStop, makesSafe: true, client: caller.client).accepted()
  }

  /// Nothing to reset is no error here: what was asked for is so.
  func reset(_ caller: Caller) async throws {
    let answer = try await requests.ask(System.reset, makesSafe: false, client: caller.client)
    if case .refused(let refusal) = answer.verdict, refusal.rawValue == System.nothingToReset?.rawValue {
      isStopped.store(false, ordering: .releasing)
      return
    }
    _ = try answer.accepted()
    isStopped.store(false, ordering: .releasing)
  }

  func take(
    frame: [UInt8], from caller: Caller, answer: @escaping @Sendable (FrameOutcome) -> Void
  ) -> Bool { false }

  func clientLeft(_ caller: Caller) {
    guard let order = System.whenClientLeaves else { return }
    requests.send(order, makesSafe: true, client: caller.client) { _ in }
  }
}

extension Mailbox {
  /// Makes a request; `complete` is called once, on any thread.
  func send<Order, Refusal>(
    _ order: Order, makesSafe: Bool, client: UInt32, _ complete: @escaping Completion
  ) where Request == Tactus.Request<Order>, Answer == Tactus.Answer<Refusal> {
    send(
      isStop: makesSafe,
      { Tactus.Request(number: $0, issued: $1, makesSafe: makesSafe, client: client, order: order) }, complete)
  }

  /// As `send`, for who can wait.
  func ask<Order, Refusal>(
    _ order: Order, makesSafe: Bool, client: UInt32
  ) async throws -> Answer where Request == Tactus.Request<Order>, Answer == Tactus.Answer<Refusal> {
    try await withCheckedThrowingContinuation { continuation in
      send(order, makesSafe: makesSafe, client: client) { continuation.resume(with: $0) }
    }
  }
}

extension Answer where Refusal: RefusalWord {
  /// Throws the refusal when the loop refused: 409.
  func accepted() throws(APIError) -> Answer {
    switch verdict {
    case .accepted: return self
    case .refused(let refusal): throw .conflict(refusal.code, refusal.sentence)
    case .stale: throw .conflict("STALE", "the command waited too long for its loop and did nothing; send it again")
    }
  }
}

extension RefusalWord {
  /// `EMERGENCY_STOPPED`
  var code: String { Unit.words(rawValue).map { $0.uppercased() }.joined(separator: "_") }
}

extension CommandScope {
  var scope: Scope {
    switch self {
    case .control: .control
    case .admin: .admin
    }
  }
}

extension Command {
  /// The order of a request, and what the log says of it.
  func read(_ request: APIRequest) throws(APIError) -> (Order, logValue: String?) {
    try request.decode { (body) throws(APIError) in
      let order = try read(&body)
      return (order, parameters.map { "\($0.name)=\(body.summary($0.name))" }.joined(separator: " "))
    }
  }

  func withoutBody() throws(APIError) -> (Order, logValue: String?) {
    (try APIRequest.empty.decode { (body) throws(APIError) in try read(&body) }, nil)
  }
}

extension APIRequest {
  fileprivate static let empty = APIRequest(
    caller: Caller(scope: .read, tokenID: nil, address: "", client: 0), body: Array("{}".utf8))
}
