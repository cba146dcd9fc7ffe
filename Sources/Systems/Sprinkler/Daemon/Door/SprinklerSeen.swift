@_spi(FromOutside) import Conversions
import Service
import Sprinkler
import Tactus
import WallTime

/// The state of the sprinkler at one instant, from which its documents and metrics are made.
///
/// It is made from the loop's newest snapshot and the desk's view without waiting for either. Remaining times refer to `now`, since the
/// snapshot may be a second old.
public struct SprinklerSeen: Sendable {
  let newest: SprinklerSnapshot
  let view: SprinklerView
  let description: SprinklerDescription
  let now: TickInstant
  let reading: WallReading
  let lines: NamedLines
  /// The state of the valves, with the lines whose levels differ from those written.
  let state: StateSeen
  let zones: [ZoneSeen]
  let queue: [QueuedSeen]

  init(
    _ published: Published<SprinklerSnapshot>, _ view: SprinklerView, _ description: SprinklerDescription,
    at now: TickInstant, _ reading: WallReading
  ) {
    let newest = published.state
    self.newest = newest
    (self.view, self.description, self.now, self.reading) = (view, description, now, reading)
    lines = NamedLines(description: description, zones: view.records.zones)
    let differing =
      newest.confirmation.isConfirmed
      ? [] : newest.read.map { [lines] in lines.differing(told: newest.told, read: $0) } ?? []
    state = StateSeen(newest.state, lines, differing: differing)
    zones = view.records.zones.map { ZoneSeen($0, newest[$0.id], at: now, description) }
    let wall = WallInstant(reading)
    queue = (0..<min(newest.queueCount, SprinklerSnapshot.shownQueue)).map {
      QueuedSeen(queued: newest.queued($0), now: now, wall: wall)
    }
  }

  /// The flow, or `nil` if there is no sensor.
  var flow: FlowSeen? {
    newest.flow.map { FlowSeen(status: $0, alarm: $0.alarm.map { lines.text(of: $0) }) }
  }

  var wall: WallInstant { WallInstant(reading) }
  var clock: ClockSeen { ClockSeen(reading: reading) }
  /// The rain delay in force, if there is one. The schedule ends it by a clock that cannot be set.
  var rain: RainSeen { RainSeen(delay: view.records.rainDelay, wall: wall) }

  var pausedRemainingSec: Int? {
    if case .paused(let until) = newest.state { (until - now).wholeSecondsUp } else { nil }
  }

  /// The zone that has been open for the longest time, or `nil` if none is open.
  var active: ZoneSeen? {
    var first: (zone: ZoneSeen, opened: TickInstant)?
    for zone in zones {
      guard case .open(_, let opened, _) = zone.status.valve else { continue }
      if first.map({ opened < $0.opened }) ?? true { first = (zone, opened) }
    }
    return first?.zone
  }

  /// The next run in the queue or, if the queue is empty, the next of the schedules; `nil` if there is neither.
  var nextRun: NextRunSeen? {
    if newest.queueCount > 0, let first = queue.first, let start = first.expectedISO {
      let name = first.scheduleId.flatMap { id in view.records.programs.first { $0.id == id }?.name }
      return NextRunSeen(
        zoneId: first.zoneId, startISO: start, seconds: first.seconds, scheduleId: first.scheduleId, scheduleName: name)
    }
    guard let next = view.next, let run = next.runs.first(where: { $0.skipped == nil }) else { return nil }
    return NextRunSeen(
      zoneId: Int(run.zone.number), startISO: run.startISO, seconds: run.seconds, scheduleId: next.program,
      scheduleName: next.programName)
  }

  var seasonalPercent: Int {
    let levels = view.records.levels
    guard levels.monthlyPercent.count == 12 else { return levels.seasonalPercent }
    return levels.monthlyPercent[description.timeZone.local(wall).date.month - 1]
  }

  var localTime: String { WallTimeText.text(wall, offsetSeconds: description.timeZone.offsetSeconds(at: wall)) }
  var nextStartSeconds: Int64? { view.next.map { max(0, $0.at - wall) } }
  var weather: WeatherSeen? { description.weather.map { WeatherSeen(provider: $0, view: view) } }

  /// Whether the lines can be written and read.
  var areLinesHeld: Bool { if case .fault(.lines) = newest.state { false } else { true } }

  var pins: [PinSeen] {
    description.lines.enumerated().map { index, line in
      let isMaster = lines.isMaster(index)
      let isActive = newest.read.map { $0 >> UInt64(clamping: index) & 1 == 1 }
      return PinSeen(
        line: line, zoneId: isMaster ? nil : lines.zone(line.pin)?.id,
        value: isActive.map { $0 != line.isActiveLow ? 1 : 0 }, isMaster: isMaster)
    }
  }
}

/// The flow sensor's reading, with its alarm in words; `nil` if the flow is normal.
struct FlowSeen: Sendable {
  let status: FlowStatus
  let alarm: String?
}

/// A zone, with the state of its valve.
struct ZoneSeen: Sendable {
  let zone: Zone
  let status: ZoneStatus
  let now: TickInstant
  let isActiveLow: Bool
  /// The flow sensor's pulses per litre, or `nil` if there is no sensor.
  let pulsesPerLitre: Double?

  init(_ zone: Zone, _ status: ZoneStatus, at now: TickInstant, _ description: SprinklerDescription) {
    (self.zone, self.status, self.now) = (zone, status, now)
    pulsesPerLitre = description.pulsesPerLitre
    isActiveLow = description.line(zone.gpioPin).map { description.lines[$0].isActiveLow } ?? false
  }

  var id: Int { Int(zone.id.number) }
  var remaining: Nanoseconds? { status.remaining(at: now) }
  var remainingSec: Int? { remaining?.wholeSecondsUp }
  /// The water of the open run by the flow sensor, in litres, or `nil` if the zone is closed or there is no sensor.
  var runLitres: Double? {
    guard status.isOn, let pulsesPerLitre else { return nil }
    return (Double(status.pulses) / pulsesPerLitre * 10).rounded() / 10
  }
  /// The water that the open run is to have, in litres, or `nil` if the zone is closed or its run is by time.
  var runLitresAsked: Double? { status.isOn ? status.run?.litres : nil }
  var ranTodaySec: Double { (status.ranToday.inSeconds * 10).rounded() / 10 }
}

/// A run that waits in the queue.
struct QueuedSeen: Sendable {
  let queued: QueuedRunStatus
  let now: TickInstant
  let wall: WallInstant

  var zoneId: Int { Int(queued.run.zone.number) }
  var runId: Int { Int(clamping: queued.run.id) }
  var seconds: Int { queued.left.wholeSecondsUp }
  var scheduleId: Int? { queued.run.source.program }
  var litres: Double? { queued.run.litres }
  var inSec: Int? { queued.expected.map { ($0 - now).wholeSecondsUp } }
  var expectedISO: String? { inSec.map { WallTimeText.text(wall + Int64($0)) } }
}

/// The next run, with the schedule to which it belongs.
struct NextRunSeen: Sendable {
  let zoneId: Int
  let startISO: String
  let seconds: Int
  let scheduleId: Int?
  let scheduleName: String?
}

/// The rain delay, or the information that there is none.
struct RainSeen: Sendable {
  let delay: RainDelay?
  let wall: WallInstant

  var isActive: Bool { delay != nil }
  var until: String? { delay.map { WallTimeText.text($0.until) } }
  var seconds: Int64? { delay.map { max(0, $0.until - wall) } }
  var reason: String? {
    switch delay?.reason {
    case nil: nil
    case .manual: "manual"
    case .weather: "weather"
    case .sensor: "sensor"
    }
  }
  var detail: String? { delay?.why }
}

/// The reading of the wall clock, with the trust in the clock.
struct ClockSeen: Sendable {
  let reading: WallReading

  var lastJumpSec: Int? { reading.lastJump.map { Int(saturating: $0.by.inSeconds.rounded()) } }
  /// The wall time of the last jump to the nearest second. Rounding keeps the value constant, where the difference of two truncated times would vary.
  var lastJumpISO: String? {
    reading.lastJump.map {
      let microseconds = reading.microseconds - (reading.bootTime - $0.at).count / 1_000
      return WallTimeText.text(WallInstant(secondsSince1970: (microseconds + 500_000) / 1_000_000))
    }
  }
}

/// The last result of asking the weather provider.
struct WeatherSeen: Sendable {
  let provider: String
  let view: SprinklerView

  var isLowerBound: Bool { view.weather?.isLowerBound ?? false }
  var answeredISO: String? { view.weather?.answered.map { WallTimeText.text($0) } }
}

/// A GPIO line that is requested.
struct PinSeen: Sendable {
  let line: SprinklerDescription.Line
  let zoneId: Int?
  let value: Int?
  let isMaster: Bool
  /// The mode of the pin; always `OUTPUT`, since all lines are requested as outputs.
  var mode: String { "OUTPUT" }
}

extension Nanoseconds {
  /// The duration in whole seconds, rounded up, so that a countdown shows 1 until it is over.
  var wholeSecondsUp: Int { Int((max(0, count) + 999_999_999) / 1_000_000_000) }
}

extension SprinklerSnapshot {
  /// Returns the progress of the runs that have begun, open or paused, as of this snapshot, to be saved in case the daemon crashes.
  ///
  /// - Parameters:
  ///   - pending: the runs that the scheduler knows.
  ///   - now: an instant that is not before this snapshot.
  public func progress(of pending: [PendingRun], at now: TickInstant) -> [RunProgress] {
    let waiting = (0..<min(queueCount, Self.shownQueue)).map { queued($0) }
    return pending.compactMap { run in
      let zone = self[run.zone]
      if case .open(let open, _, _) = zone.valve, open.id == run.run {
        var progress = RunProgress(
          run: run.run, ranSeconds: zone.ran.inSeconds, ageSeconds: max(.zero, now - at).inSeconds)
        progress.pulses = zone.pulses
        return progress
      }
      guard run.opened != nil, let paused = waiting.first(where: { $0.run.id == run.run }) else { return nil }
      return RunProgress(run: run.run, ranSeconds: paused.ran.inSeconds, isOpen: false)
    }
  }
}
