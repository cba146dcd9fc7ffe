import Pump
import Service
import Synchronization
import Tactus
import Wire

/// The cooling pump behind the door: `/api/pump` and its events.
///
/// Reads the operator loop's snapshots and sends it requests; a command is answered when the loop has taken it, which is before
/// the pump has obeyed: that shows in the state, and in the events.
final class PumpDoor: ServedSystem {
  let name = "pump"
  let mailbox: PumpMailbox
  private let history: PumpHistory?
  private let snapshot: Latest<PumpSnapshot>
  private let link: @Sendable () -> PumpLinkReport
  /// When somebody last looked.
  private let lookedAt = Atomic<Int64>(.min)

  /// - Parameters:
  ///   - channel: of the pump's loop.
  ///   - link: the way to the pump. Any thread.
  ///   - history: the sessions, or `nil` if nothing is kept.
  ///   - ring: wakes that loop. Any thread.
  ///   - now: that loop's clock. Any thread.
  init(
    channel: PumpOperatorLoop.Channel,
    link: @escaping @Sendable () -> PumpLinkReport = { PumpLinkReport(.serial) },
    history: PumpHistory? = nil, ring: @escaping @Sendable () -> Void,
    now: @escaping @Sendable () -> TickInstant = { MonotonicClock.now }
  ) {
    snapshot = channel.state
    self.history = history
    self.link = link
    mailbox = PumpMailbox(
      of: "pump", channel, newestTick: { channel.state.newest.at }, ring: ring, now: now)
  }

  /// Hands the loop's answers to those who wait. To be called when the loop has rung; `events` does it, too.
  func takeAnswers(at now: TickInstant) { mailbox.takeAnswers(at: now) }

  // MARK: state and events

  var version: UInt64 { snapshot.version.read() }

  var state: [UInt8] { encodeJSON(PumpDocument(newest, link: link())) }

  var newest: PumpSnapshot { snapshot.newest }

  /// A state each second; what changes in between is an edge.
  func events(at now: TickInstant, second: Bool) -> [Event] {
    takeAnswers(at: now)
    guard second else { return [] }
    let newest = newest
    return [
      Event(.state, type: "pump", system: name, at: newest.at, json: PumpDocument(newest, link: link(), isEvent: true))
    ]
  }

  /// A change that the loop has told of.
  func edge(_ notice: PumpNotice) -> Event {
    switch notice.subject {
    case .state(let state, let source):
      let document = PumpStateDocument(state, source: source)
      return Event(.edge, type: "pump", system: name, at: notice.at, json: document)
    case .contact(let contact):
      return Event(.edge, type: "pump.contact", system: name, at: notice.at, json: ContactDocument(contact))
    case .failed(let failure):
      return Event(.edge, type: "pump.failure", system: name, at: notice.at, json: FailureDocument(failure))
    }
  }

  // MARK: commands

  var routes: [Route] {
    [
      Route(.get, "/api/pump") { [self] _ in
        look()
        return .json(PumpDocument(newest, link: link(), ok: true))
      },
      commands.onRoute { [self] wanted in
        let answer = try await mailbox.ask(.turnOn(wanted))
        // What was asked for is so, but for the speed.
        guard answer.verdict == .ignored(.alreadyOn) else { return try commands.accepted(answer) }
        guard let wanted else { return answer }
        return try await commands.perform(.setSpeed(wanted))
      },
      commands.speedRoute { .setSpeed($0) }, commands.route("off", .turnOff),
      commands.route("e-stop", .emergencyStop), commands.route("reset", .reset),
    ] + (history?.routes ?? [])
  }

  private var commands: PumpCommands<PumpRequest.Order> {
    PumpCommands(
      ask: { [mailbox] in try await mailbox.ask($0) },
      state: { [self] in
        let newest = newest
        return PumpStateDocument(newest.state, source: newest.source)
      })
  }

  /// While people look the pump is asked for its state every second.
  private func look() {
    let now = mailbox.now().nanoseconds
    let last = lookedAt.load(ordering: .relaxed)
    guard last == .min || now - last >= 1_000_000_000 else { return }
    lookedAt.store(now, ordering: .relaxed)
    mailbox.send(.watched) { _ in }
  }

  var isEmergencyStopped: Bool {
    if case .emergencyStopped = newest.state { true } else { false }
  }

  func holdEmergencyStop() { mailbox.send(.emergencyStop) { _ in } }

  func emergencyStop(_ caller: Caller) async throws { _ = try await commands.perform(.emergencyStop) }

  func reset(_ caller: Caller) async throws { try await commands.reset(.reset) }

  func take(
    frame: [UInt8], from caller: Caller, answer: @escaping @Sendable (FrameOutcome) -> Void
  ) -> Bool { false }

  /// No client owns the pump while it pumps: its own limits stop it.
  func clientLeft(_ caller: Caller) {}
}

/// The body of `POST /api/pump/on`: the speed once it runs; without one the pump's own.
struct PumpOnBody: JSONReadable {
  let speed: PumpSpeed?

  init(_ body: inout JSONReader) throws(APIError) { speed = try PumpSpeedBody.speed(&body) }
}

/// The body of `POST /api/pump/speed`: a duty or a percentage.
struct PumpSpeedBody: JSONReadable {
  let speed: PumpSpeed

  init(_ body: inout JSONReader) throws(APIError) {
    guard let speed = try Self.speed(&body) else {
      throw body.refusal("speedPercent", expected: "speedPercent or speedDuty", got: "nothing")
    }
    self.speed = speed
  }

  static func speed(_ body: inout JSONReader) throws(APIError) -> PumpSpeed? {
    let percent = try body.optional("speedPercent", .integer(0...100))
    let duty = try body.optional("speedDuty", .integer(0...255))
    if percent != nil, duty != nil {
      throw body.refusal("speedDuty", expected: "one of speedPercent and speedDuty", got: "both")
    }
    return percent.map { PumpSpeed(percent: UInt8(clamping: $0)) } ?? duty.map { PumpSpeed(duty: UInt8(clamping: $0)) }
  }
}

/// What a taken command is answered with.
struct PumpCommandDocument: Encodable {
  let ok = true
  let verdict = "accepted"
  let pump: PumpStateDocument
  let monotonicNs: Int64
}

private struct ContactDocument: Encodable {
  let contact: String
  let reason: String

  init(_ contact: PumpContact) { (self.contact, reason) = (contact.name, "\(contact)") }
}

private struct FailureDocument: Encodable {
  let command: String
  let reason: String

  init(_ failure: PumpCommandFailure) { (command, reason) = ("\(failure.command)", "\(failure)") }
}
