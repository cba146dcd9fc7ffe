import Pump
import Tactus
import Wire

/// The cooling pump that is this machine's own behind the door: the routes and events of `PumpDoor`, answered by the device
/// side itself.
public final class PumpDeviceDoor: ServedSystem {
  public let name = "pump"
  let mailbox: PumpDeviceMailbox
  private let history: PumpHistory?
  private let snapshot: Latest<PumpDeviceSnapshot>
  private let links: @Sendable () -> [PumpLinkReport]

  /// - Parameters:
  ///   - requests: to the pump's loop, at most `PumpDeviceLoop.requestsPerTick` of them.
  ///   - answers: of that loop.
  ///   - links: the ways by which others operate the pump. Any thread.
  ///   - history: nil: nothing is kept.
  ///   - ring: wakes that loop. Any thread.
  ///   - now: that loop's clock. Any thread.
  public init(
    requests: consuming RingWriter<PumpDeviceRequest>, answers: consuming RingReader<PumpAnswer>,
    snapshot: Latest<PumpDeviceSnapshot>, links: @escaping @Sendable () -> [PumpLinkReport] = { [] },
    history: PumpHistory? = nil, ring: @escaping @Sendable () -> Void,
    now: @escaping @Sendable () -> TickInstant = { MonotonicClock.now }
  ) {
    self.snapshot = snapshot
    self.history = history
    self.links = links
    let newestTick: @Sendable () -> TickInstant = {
      var reader = snapshot.reader()
      return reader.read().at
    }
    mailbox = PumpDeviceMailbox(
      of: "pump", requests: requests, answers: answers, requestsPerTick: PumpDeviceLoop.requestsPerTick,
      newestTick: newestTick, ring: ring, now: now)
  }

  /// Hands the loop's answers to those who wait. To be called when the loop has rung; `events` does it, too.
  public func takeAnswers(at now: TickInstant) { mailbox.takeAnswers(at: now) }

  // MARK: state and events

  public var version: UInt64 { snapshot.version.read() }

  public var state: [UInt8] { encodeJSON(PumpDocument(newest, links: links())) }

  var newest: PumpDeviceSnapshot {
    var reader = snapshot.reader()
    return reader.read()
  }

  /// A state each second; what changes in between is an edge.
  public func events(at now: TickInstant, second: Bool) -> [Event] {
    takeAnswers(at: now)
    guard second else { return [] }
    let newest = newest
    return [
      Event(
        .state, type: "pump", system: name, at: newest.at, json: PumpDocument(newest, links: links(), isEvent: true))
    ]
  }

  /// A change that the loop has told of; nil: one that is only for the log.
  public func edge(_ notice: PumpDeviceNotice) -> Event? {
    guard case .state(let state) = notice.subject else { return nil }
    return Event(
      .edge, type: "pump", system: name, at: notice.at, json: PumpStateDocument(state, source: notice.source))
  }

  // MARK: commands

  public var routes: [Route] {
    [
      Route(.get, "/api/pump") { [self] _ in .json(PumpDocument(newest, links: links(), ok: true)) },
      Route(.post, "/api/pump/on", scope: .control, action: "pump.on") { [self] request in
        let wanted = request.body.isEmpty ? nil : try request.decode(PumpOnBody.self).speed
        var answer = try accepted(try await mailbox.ask(.command(.on)))
        if let wanted { answer = try accepted(try await mailbox.ask(.command(.speed(wanted)))) }
        return answered(answer, logValue: wanted.map { "duty=\($0.duty)" })
      },
      Route(.post, "/api/pump/speed", scope: .control, action: "pump.speed") { [self] request in
        let wanted = try request.decode(PumpSpeedBody.self).speed
        let answer = try accepted(try await mailbox.ask(.command(.speed(wanted))))
        return answered(answer, logValue: "duty=\(wanted.duty)")
      },
      command("off", .command(.off)), command("e-stop", .emergencyStop), command("reset", .reset),
    ] + (history?.routes ?? [])
  }

  private func command(_ word: String, _ order: PumpDeviceRequest.Order) -> Route {
    Route(.post, "/api/pump/\(word)", scope: .control, action: "pump.\(word)") { [self] _ in
      answered(try accepted(try await mailbox.ask(order)))
    }
  }

  public func emergencyStop(_ caller: Caller) async throws {
    _ = try accepted(try await mailbox.ask(.emergencyStop))
  }

  /// Nothing to reset is no error here: what was asked for is so.
  public func reset(_ caller: Caller) async throws {
    let answer = try await mailbox.ask(.reset)
    if answer.verdict != .ignored(.nothingToReset) { _ = try accepted(answer) }
  }

  public func take(
    frame: [UInt8], from caller: Caller, answer: @escaping @Sendable (FrameOutcome) -> Void
  ) -> Bool { false }

  /// The pump is nobody's while it pumps: its own limits stop it.
  public func clientLeft(_ caller: Caller) {}

  /// Throws the refusal when the loop refused.
  private func accepted(_ answer: PumpAnswer) throws(APIError) -> PumpAnswer {
    if case .ignored(let reason) = answer.verdict { throw reason.error(wayOut: newest.state.wayOut) }
    return answer
  }

  private func answered(_ answer: PumpAnswer, logValue: String? = nil) -> APIResponse {
    let newest = newest
    return .json(
      PumpCommandDocument(
        pump: PumpStateDocument(newest.state, source: newest.source), monotonicNs: answer.at.nanoseconds),
      logValue: logValue)
  }
}
