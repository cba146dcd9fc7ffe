import Pump
import Service
import Tactus
import Wire

/// The cooling pump that is this machine's own behind the door: the routes and events of `PumpDoor`, answered by the device
/// side itself.
final class PumpDeviceDoor: ServedSystem {
  let name = "pump"
  let mailbox: PumpDeviceMailbox
  private let history: PumpHistory?
  private let snapshot: Latest<PumpDeviceSnapshot>
  private let links: @Sendable () -> [PumpLinkReport]

  /// - Parameters:
  ///   - channel: of the pump's loop.
  ///   - links: the ways by which others operate the pump. Any thread.
  ///   - history: the sessions, or `nil` if nothing is kept.
  ///   - ring: wakes that loop. Any thread.
  ///   - now: that loop's clock. Any thread.
  init(
    channel: PumpDeviceLoop.Channel,
    links: @escaping @Sendable () -> [PumpLinkReport] = { [] },
    history: PumpHistory? = nil, ring: @escaping @Sendable () -> Void,
    now: @escaping @Sendable () -> TickInstant = { MonotonicClock.now }
  ) {
    snapshot = channel.state
    self.history = history
    self.links = links
    mailbox = PumpDeviceMailbox(
      of: "pump", channel, newestTick: { channel.state.newest.at }, ring: ring, now: now)
  }

  /// Hands the loop's answers to those who wait. To be called when the loop has rung; `events` does it, too.
  func takeAnswers(at now: TickInstant) { mailbox.takeAnswers(at: now) }

  // MARK: state and events

  var version: UInt64 { snapshot.version.read() }

  var state: [UInt8] { encodeJSON(PumpDocument(newest, links: links())) }

  var newest: PumpDeviceSnapshot { snapshot.newest }

  /// A state each second; what changes in between is an edge.
  func events(at now: TickInstant, second: Bool) -> [Event] {
    takeAnswers(at: now)
    guard second else { return [] }
    let newest = newest
    return [
      Event(
        .state, type: "pump", system: name, at: newest.at, json: PumpDocument(newest, links: links(), isEvent: true))
    ]
  }

  /// A change that the loop has told of, or `nil` for one that only the log shows.
  func edge(_ notice: PumpDeviceNotice) -> Event? {
    guard case .state(let state) = notice.subject else { return nil }
    return Event(
      .edge, type: "pump", system: name, at: notice.at, json: PumpStateDocument(state, source: notice.source))
  }

  // MARK: commands

  var routes: [Route] {
    [
      Route(.get, "/api/pump") { [self] _ in .json(PumpDocument(newest, links: links(), ok: true)) },
      commands.onRoute { [self] wanted in
        let answer = try await commands.perform(.command(.on))
        guard let wanted else { return answer }
        return try await commands.perform(.command(.speed(wanted)))
      },
      commands.speedRoute { .command(.speed($0)) }, commands.route("off", .command(.off)),
      commands.route("e-stop", .emergencyStop), commands.route("reset", .reset),
    ] + (history?.routes ?? [])
  }

  private var commands: PumpCommands<PumpDeviceRequest.Order> {
    PumpCommands(
      ask: { [mailbox] in try await mailbox.ask($0) },
      state: { [self] in
        let newest = newest
        return PumpStateDocument(newest.state, source: newest.source)
      })
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
