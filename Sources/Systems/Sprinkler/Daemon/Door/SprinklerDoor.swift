import Logging
import Service
import Sprinkler
import Synchronization
import Tactus
import TactusDaemon

/// The sprinkler behind the door: the requirement's routes, the events of zones and rain.
///
/// Reads the loop's snapshots and the desk's view; commands go through the desk.
final class SprinklerDoor: ServedSystem {
  let name = "sprinkler"
  let desk: SprinklerDesk
  private let described: Mutex<SprinklerDescription>
  /// What the last events said, so that only changes are told.
  private let told = Mutex(Told())

  private struct Told {
    var rain: RainDelay?
    var version: UInt64?
    /// Of the open zones, in seconds.
    var countdowns: [ZoneID: Int] = [:]
  }

  init(_ desk: SprinklerDesk, _ description: SprinklerDescription) {
    self.desk = desk
    described = Mutex(description)
  }

  var description: SprinklerDescription { described.withLock { $0 } }

  /// The rules of a reloaded file.
  func take(_ new: Configuration.Sprinkler) {
    described.withLock { description in
      (description.rainDelayHours, description.stopsInRain) = (new.rainDelayHours, new.stopsInRain)
      description.manualInRain = new.manualInRain.rawValue
    }
  }

  var zoneCount: Int { desk.view.records.zones.count }
  var scheduleCount: Int { desk.view.records.programs.count }

  // MARK: state and events

  var version: UInt64 { desk.snapshot.version.read() &+ desk.view.version &* 0x1_0000_0000 }

  var state: [UInt8] { encodeJSON(document()) }

  var statusMembers: [UInt8]? {
    let own = encodeJSON(statusDocument)
    guard let legacy = legacyMembers else { return own }
    return own.dropLast() + [UInt8(ascii: ",")] + legacy.dropFirst()
  }

  /// `zone/1`, …: each zone.
  var parts: [StatePart] {
    zones(desk.newest, desk.view, at: desk.now).map { StatePart("zone/\($0.id)", json: $0) }
  }

  /// The state each second, telemetry in between; besides, what the requirement's app listens to: of each open zone every number of its
  /// countdown when it is reached, and the rain delay when it changes.
  func events(at now: TickInstant, second: Bool) -> [Event] {
    let (newest, version, rain) = (desk.newest, version, rainDelay(desk.view))
    // A snapshot may be younger than the beat, if the beat has waited.
    let instant = max(now, newest.at)
    // None at the end: 0 is told when the valve is closed.
    let countdowns = desk.view.records.zones.compactMap { zone in
      newest[zone.id].remaining(at: instant).map { (zone: zone.id, seconds: $0.wholeSecondsUp) }
    }.filter { $0.seconds > 0 }
    let (isNews, hasRainChanged, reached) = told.withLock { told in
      let reached = countdowns.filter { told.countdowns[$0.zone] != $0.seconds }
      let news = (told.version != version, told.rain != rain, reached)
      (told.rain, told.version) = (rain, version)
      told.countdowns = Dictionary(uniqueKeysWithValues: countdowns.map { ($0.zone, $0.seconds) })
      return news
    }
    var events: [Event] = []
    // The loop publishes once a second: to write the same again ten times would only warm the processor.
    if second || isNews {
      events.append(
        Event(
          second ? .state : .telemetry, type: "sprinkler", system: name, at: newest.at,
          json: document(isEvent: true, at: instant)))
    }
    for (zone, seconds) in reached {
      let event = ZoneEvent(id: Int(zone.number), isOn: true, remainingSec: seconds)
      events.append(Event(.state, type: "zone", system: name, at: instant, json: event))
    }
    if hasRainChanged {
      events.append(Event(.edge, type: "rain", system: name, at: newest.at, json: RainDocument(rain)))
    }
    return events
  }

  /// A change that the loop has told of, or `nil` if it matters to no client.
  func edge(_ notice: IrrigationNotice) -> Event? {
    let newest = desk.newest
    switch notice.subject {
    case .opened(let run), .reopened(let run, _), .extended(let run, _): return event(run.zone, newest)
    case .ended(let ended) where ended.opened != nil: return event(ended.run.zone, newest)
    case .ended: return nil
    case .state(let state):
      return Event(.edge, type: "sprinkler.state", system: name, at: notice.at, json: StateEdge(state))
    case .master(let isOpen):
      return Event(.edge, type: "master", system: name, at: notice.at, json: MasterEdge(isOn: isOpen))
    case .flowAlarm(let alarm):
      return Event(.edge, type: "flow", system: name, at: notice.at, json: FlowEdge(alarm: alarm.words))
    case .flowNormal: return Event(.edge, type: "flow", system: name, at: notice.at, json: FlowEdge(alarm: nil))
    case .linesDiffer, .linesAgree: return nil
    }
  }

  /// `{"type":"zone","id":3,"isOn":true,"remainingSec":899}`, as the zone is now.
  private func event(_ zone: ZoneID, _ newest: SprinklerSnapshot) -> Event {
    let status = newest[zone]
    let remaining = status.remaining(at: max(desk.now, newest.at))?.wholeSecondsUp
    told.withLock { $0.countdowns[zone] = remaining }
    return Event(
      .edge, type: "zone", system: name, at: newest.at,
      json: ZoneEvent(id: Int(zone.number), isOn: status.isOn, remainingSec: remaining ?? 0))
  }

  // MARK: commands

  var isEmergencyStopped: Bool {
    if case .emergencyStopped = desk.newest.state { true } else { false }
  }

  func holdEmergencyStop() { desk.mailbox.send(.emergencyStop) { _ in } }

  func emergencyStop(_ caller: Caller) async throws {
    if case .refused(let refusal) = try await desk.mailbox.ask(.emergencyStop).verdict { throw refusal.error() }
  }

  /// Nothing to reset is no error: what was asked for is so.
  func reset(_ caller: Caller) async throws {
    let verdict = try await desk.mailbox.ask(.reset).verdict
    if case .refused(let refusal) = verdict, refusal != .nothingToReset { throw refusal.error() }
  }

  func take(
    frame: [UInt8], from caller: Caller, answer: @escaping @Sendable (FrameOutcome) -> Void
  ) -> Bool { false }

  /// No client holds a valve: a zone runs as long as it was asked to, whichever client has gone.
  func clientLeft(_ caller: Caller) {}
}

private struct ZoneEvent: Encodable {
  let id: Int
  let isOn: Bool
  /// 0: it is closed.
  let remainingSec: Int
}

private struct StateEdge: Encodable {
  let state: String
  let reason: String
  @OrNull var wayOut: String?

  init(_ state: IrrigationState) {
    (self.state, reason) = (state.word, state.reason)
    _wayOut = OrNull(wrappedValue: state.wayOut)
  }
}

private struct MasterEdge: Encodable { let isOn: Bool }

private struct FlowEdge: Encodable {
  /// Null: all is well again.
  @OrNull var alarm: String?
}
