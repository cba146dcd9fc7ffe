import NIOCore
import NIOWebSocket
import Tactus

/// The handling of a client's messages, and the answers to them.
extension WebSocketSession {
  /// Sends the complete present state, so that a client that connects, or reconnects, need not ask for history.
  func greet() {
    struct Hello: Encodable {
      let version: String
      let client: UInt32
      let scope: Scope
      let systems: [String]
    }
    let hello = Hello(
      version: shared.version, client: caller.client, scope: caller.scope, systems: shared.systems.map(\.name))
    send(Event(.state, type: "hello", system: "daemon", at: shared.now(), json: hello))
    for system in shared.systems {
      send(Event(.state, type: "state", system: system.name, at: shared.now(), body: system.state))
    }
  }

  func heard(_ text: String) {
    let message: ClientMessage
    do throws(APIError) {
      message = try ClientMessage(text: text)
    } catch {
      return send(error, id: nil)
    }
    do throws(APIError) {
      switch message.kind {
      case .subscribe: try subscribe(message)
      case .unsubscribe:
        for name in try names(message) { rates[name] = nil }
        send(Answer(id: message.id, action: message.type, systems: rates.keys.sorted()))
      case .changes:
        followChanges()
        send(Answer(id: message.id, action: message.type))
      case .ping: send(Answer(id: message.id), type: "pong")
      case .eStop: try act(message) { system, caller in try await system.emergencyStop(caller) }
      case .reset: try act(message) { system, caller in try await system.reset(caller) }
      case nil:
        throw .validation("type", expected: "subscribe, unsubscribe, changes, ping, e-stop or reset", got: message.type)
      }
    } catch {
      send(error, id: message.id)
    }
  }

  private func subscribe(_ message: ClientMessage) throws(APIError) {
    let names = try names(message)
    let rate = message.rateHz ?? 10
    guard (1...10).contains(rate) else { throw .validation("rateHz", expected: "1…10", got: "\(rate)") }
    for name in names { rates[name] = TelemetryRate(hertz: rate) }
    send(Answer(id: message.id, action: message.type, systems: rates.keys.sorted()))
  }

  private func names(_ message: ClientMessage) throws(APIError) -> [String] {
    if let unreadable = message.unreadable { throw unreadable }
    let known = shared.systems.map(\.name)
    guard let names = message.systems else { return known }
    for (index, name) in names.enumerated() where !known.contains(name) {
      throw .validation("systems[\(index)]", expected: known.joined(separator: ", "), got: name)
    }
    return names
  }

  /// Returns the systems that an action is for. A stop whose names cannot be read, or are not known, stops everything and is returned with its flaw,
  /// because a client that cannot name what is to stop still means that something must.
  private func concerned(_ message: ClientMessage) throws(APIError) -> (names: [String], flaw: APIError?) {
    do throws(APIError) {
      let names = try names(message)
      guard message.systems?.isEmpty != true else {
        throw .validation("systems", expected: "a name or more", got: "none")
      }
      return (names, nil)
    } catch {
      guard message.kind == .eStop else { throw error }
      return (shared.systems.map(\.name), error)
    }
  }

  /// Runs an action on every system, or on those that the message names, concurrently, and answers when all of them have accepted it or one has not.
  private func act(
    _ message: ClientMessage, _ action: @escaping @Sendable (any ServedSystem, Caller) async throws -> Void
  ) throws(APIError) {
    try needControl()
    let (names, flaw) = try concerned(message)
    guard actionsInProgress < shared.limits.webSocket.actionsInProgress else {
      throw APIError(.tooManyRequests, "BUSY", "\(actionsInProgress) actions of this client are still carried out")
    }
    actionsInProgress += 1
    var answer = Answer(id: message.id, action: message.type, systems: message.systems)
    if let flaw {
      (answer.systems, answer.field) = (names, flaw.field)
      answer.message = "\(flaw.message): everything was stopped"
    }
    let acted = onLoop { [answer] (session, error: APIError?) in session.acted(answer, error) }
    guard let eventLoop else { return }
    let systems = shared.systems.filter { names.contains($0.name) }
    let (caller, log, type) = (arrivingCaller, shared.logAction, message.type)
    // A stop does not wait for the threads that make answers.
    Task(executorPreference: LoopExecutor(eventLoop)) {
      await withTaskGroup(of: APIError?.self) { group in
        for system in systems {
          group.addTask {
            let error = await failure { try await action(system, caller) }
            log("\(system.name).\(type)", caller, error)
            return error
          }
        }
        acted(await group.reduce(nil) { $0 ?? $1 })
      }
    }
  }

  private func acted(_ answer: Answer, _ error: APIError?) {
    actionsInProgress -= 1
    if let error { return send(error, id: answer.id) }
    send(answer)
  }

  private func needControl() throws(APIError) {
    guard caller.scope >= .control else {
      throw APIError(
        .forbidden, "SCOPE_DENIED", "expected a token of scope control, got one of scope \(caller.scope.rawValue)")
    }
  }

  func heard(_ bytes: [UInt8]) {
    do throws(APIError) {
      try needControl()
      let answer = onLoop { (session, outcome: FrameOutcome) in session.answered(outcome) }
      for system in shared.systems where system.receive(frame: bytes, from: arrivingCaller, answer: answer) { return }
      throw APIError(.unprocessableContent, "FRAME_UNKNOWN", "no system knows a frame of this kind")
    } catch {
      send(error, id: nil)
    }
  }

  private func answered(_ outcome: FrameOutcome) {
    switch outcome {
    case .reply(let bytes): send(webSocketFrame(.binary, bytes))
    case .refused(let error): send(error, id: nil)
    }
  }

  // MARK: Answers

  private struct Answer: Encodable {
    var id: ClientMessage.ID?
    var action: String?
    var systems: [String]?
    var code: String?
    var message: String?
    var field: String?
  }

  private func send(_ answer: Answer, type: String = "ack") {
    send(Event(.state, type: type, system: "daemon", at: shared.now(), json: answer))
  }

  private func send(_ error: APIError, id: ClientMessage.ID?) {
    send(Answer(id: id, code: error.code, message: error.message, field: error.field), type: "error")
  }
}

private func failure(_ action: () async throws -> Void) async -> APIError? {
  do {
    try await action()
    return nil
  } catch {
    return error as? APIError
      ?? APIError(.internalServerError, "INTERNAL", "the daemon could not do it; its log says why")
  }
}

/// The handling of a session that speaks a system's own protocol instead of the service's.
extension WebSocketSession {
  /// The time between two beats of a talk.
  private static let talkInterval = TimeAmount.milliseconds(50)

  /// Begins to speak the system's protocol with this client.
  func begin(_ socket: SystemSocket) {
    let log = shared.logAction
    let line = SocketLine(
      text: onLoop { (session, out: SocketLine.Outgoing) in session.send(out) },
      action: { [caller] action, error in log(action, caller, error) })
    talk = socket.open(caller, line)
    scheduleTalk()
  }

  private func scheduleTalk() {
    talkBeat = eventLoop?.assumeIsolated().scheduleTask(in: Self.talkInterval) { [weak self] in
      guard let self, let talk = self.talk else { return }
      talk.beat()
      self.scheduleTalk()
    }
  }

  private func send(_ out: SocketLine.Outgoing) {
    offer(webSocketFrame(.text, Array(out.text.utf8)), telemetry: out.kind, keeping: out.keeping)
    flush()
  }
}

/// The rate at which one client receives one system's telemetry.
struct TelemetryRate {
  private let interval: Int64
  private var due = Int64.min

  /// Makes a rate at which the first telemetry is due at once.
  ///
  /// - Parameter hertz: the rate in hertz, 1…10.
  init(hertz: Double) { interval = Int64(saturating: 1e9 / hertz) }

  /// Returns whether telemetry of this instant is to be sent. The rate is kept on average even if it does not divide that of the beat.
  mutating func takes(_ now: TickInstant) -> Bool {
    // The instant is that of the system's newest tick, which at 20 Hz is up to 50 ms before the beat or just at it, in turn:
    // 70 ms early is on time.
    let now = now.nanoseconds
    guard now &+ 70_000_000 >= due else { return false }
    due = due == .min || now - due > interval ? now + interval : due + interval
    return true
  }
}
