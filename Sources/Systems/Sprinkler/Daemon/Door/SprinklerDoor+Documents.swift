import Service
import Sprinkler
import Tactus
import WallTime

// What the door shows: made from the loop's newest snapshot and the desk's view, never waiting for either. What remains of a
// time is computed when it is asked for: the snapshot may be a second old.
extension SprinklerDoor {
  /// What the requirement wants at the top level of `/api/status`.
  var statusDocument: SprinklerStatusDocument {
    let began = desk.now
    let (newest, view) = (desk.newest, desk.view)
    let zones = zones(newest, view, at: began)
    let active = active(newest, view)
    return SprinklerStatusDocument(
      backend: description.backend, pigpioConnected: linesAreHeld(newest), zones: zones,
      activeZoneId: active.map { Int($0.number) },
      activeRemainingSec: active.flatMap { newest[$0].remaining(at: began)?.wholeSecondsUp },
      nextRun: nextRun(newest, view, at: began, desk.wallNow), rainDelay: RainDocument(rainDelay(view)),
      latencyMs: Int(saturating: (desk.now - began).inMilliseconds.rounded()))
  }

  /// - Parameters:
  ///   - isEvent: without the time, which an event carries itself.
  ///   - instant: what remains is of this instant; `nil` for now.
  func document(isEvent: Bool = false, ok: Bool? = nil, at instant: TickInstant? = nil) -> SprinklerDocument {
    let (newest, view, wall) = (desk.newest, desk.view, desk.wallNow)
    let now = instant ?? desk.now
    var paused: Int?
    if case .paused(let until) = newest.state { paused = (until - now).wholeSecondsUp }
    var fault: String?
    if case .fault(let cause) = newest.state { fault = cause.words }
    return SprinklerDocument(
      ok: ok, monotonicNs: isEvent ? nil : newest.at.nanoseconds, state: newest.state.word,
      reason: newest.state.reason, fault: fault,
      wayOut: newest.state.wayOut, linesConfirmed: newest.confirmation.isConfirmed,
      pausedRemainingSec: paused, masterOpen: newest.isMasterOpen,
      zones: zones(newest, view, at: now), queue: queue(newest, at: now, wall), queueCount: newest.queueCount,
      rainDelay: RainDocument(rainDelay(view)), nextRun: nextRun(newest, view, at: now, wall),
      seasonalPercent: effectivePercent(view.records.levels, wall), timeZone: description.timeZone.identifier,
      localTime: WallTimeText.text(wall, offsetSeconds: description.timeZone.offsetSeconds(at: wall)),
      flow: newest.flow.map(Self.flow), weather: weather(view),
      clock: clock(desk.reading),
      store: .init(open: view.isLoaded, writable: view.storeFailure == nil, failure: view.storeFailure),
      counters: .init(
        accepted: newest.accepted, refused: newest.refused, ended: newest.ended, completed: newest.completed,
        writes: newest.writes, lineFailures: newest.lineFailures, differences: newest.differences))
  }

  func zones(_ newest: SprinklerSnapshot, _ view: SprinklerView, at now: TickInstant) -> [ZoneDocument] {
    view.records.zones.map { ZoneDocument($0, status: newest[$0.id], at: now, description: description) }
  }

  /// - Parameter wall: `now` by the wall clock.
  func queue(
    _ newest: SprinklerSnapshot, at now: TickInstant, _ wall: WallInstant
  ) -> [SprinklerDocument.Queued] {
    (0..<min(newest.queueCount, SprinklerSnapshot.shownQueue)).map { index in
      let queued = newest.queued(index)
      let wait = queued.expected.map { ($0 - now).wholeSecondsUp }
      return SprinklerDocument.Queued(
        runId: queued.run.id, zoneId: Int(queued.run.zone.number), seconds: queued.left.wholeSecondsUp,
        source: queued.run.source.word, scheduleId: queued.run.source.program,
        expectedISO: wait.map { WallTimeText.text(wall + Int64($0)) },
        inSec: wait)
    }
  }

  /// The rain delay that is in force, or `nil` if there is none. The schedule ends it, by a clock that cannot be set.
  func rainDelay(_ view: SprinklerView) -> RainDelay? {
    view.records.rainDelay
  }

  var pins: [PinDocument] {
    let (newest, zones) = (desk.newest, desk.view.records.zones)
    return description.lines.enumerated().map { index, line in
      let isMaster = description.hasMaster && index == description.lines.count - 1
      let zone = isMaster ? nil : zones.first { $0.gpioPin == line.pin }
      let isActive = newest.read.map { $0 >> UInt64(clamping: index) & 1 == 1 }
      return PinDocument(
        pin: line.pin, value: isActive.map { $0 != line.isActiveLow ? 1 : 0 },
        activeLow: line.isActiveLow, zoneId: zone.map { Int($0.id.number) }, isMaster: isMaster)
    }
  }

  /// The open zone that has been open longest.
  func active(_ newest: SprinklerSnapshot, _ view: SprinklerView) -> ZoneID? {
    var first: (ZoneID, TickInstant)?
    for zone in view.records.zones {
      guard case .open(_, let opened, _) = newest[zone.id].valve else { continue }
      if first.map({ opened < $0.1 }) ?? true { first = (zone.id, opened) }
    }
    return first?.0
  }

  func effectivePercent(_ levels: SprinklerLevels, _ wall: WallInstant) -> Int {
    guard levels.monthlyPercent.count == 12 else { return levels.seasonalPercent }
    return levels.monthlyPercent[description.timeZone.local(wall).date.month - 1]
  }

  private func nextRun(
    _ newest: SprinklerSnapshot, _ view: SprinklerView, at now: TickInstant, _ wall: WallInstant
  ) -> NextRunDocument? {
    if newest.queueCount > 0, let first = queue(newest, at: now, wall).first, let start = first.expectedISO {
      let name = first.scheduleId.flatMap { id in view.records.programs.first { $0.id == id }?.name }
      return NextRunDocument(
        zoneId: first.zoneId, startISO: start, seconds: first.seconds,
        scheduleId: first.scheduleId, scheduleName: name)
    }
    guard let next = view.next, let run = next.runs.first(where: { $0.skipped == nil }) else { return nil }
    return NextRunDocument(
      zoneId: Int(run.zone.number), startISO: WallTimeText.text(run.start), seconds: run.seconds,
      scheduleId: next.program, scheduleName: next.programName)
  }

  /// Whether the lines take what they are told.
  private func linesAreHeld(_ newest: SprinklerSnapshot) -> Bool {
    if case .fault(.lines) = newest.state { false } else { true }
  }

  private static func flow(_ flow: FlowStatus) -> SprinklerDocument.Flow {
    .init(
      litresPerMinute: (flow.litresPerMinute * 100).rounded() / 100, pulses: flow.pulses,
      alarm: flow.alarm?.words)
  }

  private func clock(_ reading: WallReading) -> SprinklerDocument.Clock {
    let jump = reading.lastJump
    return .init(
      state: reading.word, isBelieved: reading.isConfirmed,
      lastJumpSec: jump.map { Int(saturating: $0.by.inSeconds.rounded()) },
      // To the nearest second: a difference of two that are cut off would come and go.
      lastJumpISO: jump.map {
        let microseconds = reading.microseconds - (reading.bootTime - $0.at).count / 1_000
        return WallTimeText.text(WallInstant(secondsSince1970: (microseconds + 500_000) / 1_000_000))
      })
  }

  private func weather(_ view: SprinklerView) -> SprinklerDocument.Weather? {
    guard let provider = description.weather else { return nil }
    let report = view.weather
    return .init(
      provider: provider, isOn: view.records.isForecastOn, millimetres: report?.millimetres,
      isLowerBound: report?.isLowerBound ?? false,
      answeredISO: report?.answered.map { WallTimeText.text($0) },
      failure: report?.failure)
  }
}
