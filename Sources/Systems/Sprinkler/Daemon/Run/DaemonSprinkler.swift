import Buses
import BusesLinux
import Foundation
import Logging
import Service
import Sprinkler
import Store
import Tactus
import TactusDaemon

/// The sprinkler in the daemon: its lines, its lane, its schedules, what it keeps in the daemon's store.
final class DaemonSprinkler: LoopSystem {
  let name = "sprinkler"
  let loopName = "sprinkler.valves"
  let simulation: SimulatedSurroundings?
  private let configuration: Configuration.Sprinkler
  private let zone: ZoneRules
  /// The file that the desk's rules are of: the last one that was reloaded.
  private let newest: Guarded<Configuration.Sprinkler>
  private let settings: IrrigationSettings
  private let limits: WantedRules<FlowLimits>
  private let hardware: ValveHardware
  private let desk: SprinklerDesk
  let door: SprinklerDoor
  private let weather: WeatherWatch?
  private let channel = SprinklerLoop.channel()
  private let requestBell: Doorbell
  /// Told by the loop, to be logged.
  private var notices: [IrrigationNotice] = []
  private let deskThread = DeskThread("sprinkler")

  /// Reads what the store has, if that is open, and requests the lines, every one off.
  ///
  /// - Parameter madeSafe: when the guard closed the valves after the last process had died, or `nil` if that is not known.
  /// - Throws: `HeaderLineError`, `GPIORequestError`, `UnknownTimeZone`.
  init(
    _ sprinkler: Configuration.Sprinkler, store file: StoreFile, simulate: Bool, madeSafe: MadeSafe?,
    clock: WatchedWallClock, logger: Logger
  ) throws {
    configuration = sprinkler
    let newest = Guarded(sprinkler)
    self.newest = newest
    let store = SprinklerStore(file)
    let zone = try ZoneRules(identifier: sprinkler.timeZone ?? TimeZone.current.identifier)
    self.zone = zone
    let scheduling = sprinkler.scheduler(zone)
    settings = sprinkler.irrigation
    limits = WantedRules(RulesBox(sprinkler.flowLimits))
    hardware = try ValveHardware(sprinkler, simulate: simulate)
    let bell = try Doorbell()
    requestBell = bell
    let boot = BootClock.boot
    // The lines have been requested off just now, however late the store will be there.
    let valvesClosed = (madeSafe?.instants(in: boot) ?? []) + [BootClock.now]
    desk = SprinklerDesk(
      { store throws(StoreError) in
        SprinklerScheduler(
          try Self.records(store, sprinkler, logger), settings: newest.value.scheduler(zone), boot: boot,
          isRecovered: store.file.isRecovered, valvesClosed: valvesClosed)
      }, store: store, channel: channel, ring: { bell.button.ring() },
      progressPeriod: .seconds(Int64(scheduling.noteSeconds)), logDays: sprinkler.logDays, logger: logger,
      clock: clock)
    door = SprinklerDoor(desk, sprinkler.description(zone, simulate: simulate))
    weather = try sprinkler.weatherSettings(zone).map { try WeatherWatch($0) }
    guard let bank = hardware.simulatedBank else {
      simulation = nil
      return
    }
    simulation = SimulatedSurroundings(buses: [SimulatedBus("sprinkler-gpio", .gpio(bank))], lanes: [:])
  }

  /// What the store knows, with what the configuration says otherwise than at the last start; the configuration's zones when the store knows
  /// none.
  private static func records(
    _ store: SprinklerStore, _ sprinkler: Configuration.Sprinkler, _ logger: Logger
  ) throws(StoreError) -> SprinklerRecords {
    var records = try store.records()
    let (file, last) = (
      SprinklerFile(zones: sprinkler.zones, seasonalPercent: sprinkler.seasonalPercent), try store.lastFile()
    )
    if records.zones.isEmpty {
      records.zones = file.zones
      records.levels.seasonalPercent = file.seasonalPercent
      try store.apply([.zones(records.zones), .levels(records.levels)], of: file)
    } else if file != last {
      try take(file, since: last ?? file, into: &records, store, sprinkler, logger)
    }
    if records.zones != file.zones {
      logger.notice(
        "zones are not as the configuration says: what it has not changed since the last start stays as people have set it",
        metadata: [
          "system": "sprinkler", "store": "\(records.zones.filter { !file.zones.contains($0) }.map(\.name))",
          "configuration": "\(file.zones.filter { !records.zones.contains($0) }.map(\.name))",
        ])
    }
    for zone in records.zones where !sprinkler.pins.contains(zone.gpioPin) {
      logger.error(
        "a zone's pin is not among the configuration's: it cannot run until PUT /api/zones gives it another",
        metadata: ["system": "sprinkler", "zone": "\(zone.id)", "pin": "\(zone.gpioPin)"])
    }
    return records
  }

  private static func take(
    _ file: SprinklerFile, since last: SprinklerFile, into records: inout SprinklerRecords, _ store: SprinklerStore,
    _ sprinkler: Configuration.Sprinkler, _ logger: Logger
  ) throws(StoreError) {
    var taken: (words: [String], changes: [SprinklerChange])
    do throws(SprinklerRefusal) {
      taken = try records.take(file, since: last, pins: sprinkler.pins, masterPin: sprinkler.masterPin)
    } catch {
      logger.error(
        "what the configuration says of zones cannot be taken: they stay as they are, and the next start tries again",
        metadata: ["system": "sprinkler", "reason": "\(error)"])
      return
    }
    try store.apply(taken.changes, of: file)
    if taken.words.isEmpty { return }
    logger.notice(
      "the configuration has changed since the last start, and is taken",
      metadata: ["system": "sprinkler", "changes": "\(taken.words.joined(separator: "; "))"])
  }

  var endpoints: [Endpoint] { [] }
  var startMetadata: Logger.Metadata {
    ["sprinkler": .string("zones: \(door.zoneCount), schedules: \(door.scheduleCount)")]
  }
  var heartbeat: LatestVersion { channel.state.version }
  /// The loop is slow by nature.
  var heartbeatPeriod: Nanoseconds { SprinklerLoop.period }
  var heldLines: [LinuxGPIOLines] { hardware.heldLines.map { [$0] } ?? [] }

  func lane(bell: DoorbellButton) -> Lane {
    var inputs = [requestBell.loopInput]
    var flow: GPIOEvents? = hardware.flowEvents()
    if let descriptor = flow?.descriptor { inputs.append(.descriptor(descriptor)) }
    let commandAge = DataAge("command", fromOutside: .releasesLoop)
    // Simulated pulses have no descriptor that releases the loop.
    let flowAge = DataAge("flow", fromOutside: flow?.descriptor == nil ? .awaitsLoop : .releasesLoop)
    let hasFlow = flow != nil
    return Lane(
      "sprinkler", scheduling: configuration.scheduling.lane(rateHertz: 1), cpus: configuration.cpus
    ) {
      Loop(
        loopName, every: .period(SprinklerLoop.period), late: .skip, safeStateAfter: configuration.safeStateAfter,
        counting: simulation.countedMisses(lane: "sprinkler"), inputs: inputs,
        ages: hasFlow ? [commandAge, flowAge] : [commandAge]
      ) {
        SprinklerLoop(
          settings, limits: limits.box.input(), lines: hardware.lines(), flow: flow.take(),
          channel: channel.loopEnds(requestBell: requestBell.input, bell: bell), commandAge: commandAge.meter(),
          flowAge: flowAge.meter())
      }
    }
  }

  /// What rain means, how long a start is made up for, when the weather is asked and what it must say: all at the desk, at once. What flow
  /// is an alarm: in the loop, a wider limit when every valve is closed.
  func change(to new: Configuration) -> (any RulesChange)? {
    guard let new = new.sprinkler else { return nil }
    let keys = KeyChange.between(newest.value.reloadable, new.reloadable)
    guard !keys.isEmpty else { return nil }
    let isOther = newest.value.flowLimits != new.flowLimits
    let change = DeskChange(of: name, keys) { [newest, zone, desk, door, weather, deskThread] done in
      newest.value = new
      deskThread.run {
        desk.take(new.scheduler(zone))
        door.take(new)
        if let settings = new.weatherSettings(zone) { weather?.take(settings) }
        done()
        return []
      }
    }
    guard isOther, let loop = limits.change(of: name, keys, to: new.flowLimits, taken: {}) else { return change }
    return SprinklerReload(limits: loop, desk: change)
  }

  func started() {}
  var brokerParticipants: [any BrokerParticipant] { [] }
  var served: any ServedSystem { door }
  var metrics: any MetricSource { SprinklerMetrics(door) }

  func takeAnswers(at now: TickInstant) {
    let told = desk.take(at: now)
    guard !told.isEmpty else { return }
    notices += told
    deskThread.run { [desk] in
      desk.keepNoted()
      return []
    }
  }

  func takeNotices(_ logger: Logger) -> [Event] {
    defer { notices = [] }
    return notices.compactMap { notice in
      log(notice, logger)
      return door.edge(notice)
    }
  }

  func beat(at now: TickInstant) {
    deskThread.beat { [desk, weather] in
      // It may have waited for what was before it.
      let now = MonotonicClock.now
      desk.beat(at: now)
      weather?.turn(desk, at: now)
      return []
    }
  }

  func report(_ logger: Logger) {}

  /// The runs that the loop ended have been told by now.
  func finish(_ logger: Logger) {
    takeAnswers(at: MonotonicClock.now)
    _ = takeNotices(logger)
  }

  func finishKeeping() -> KeptOutcome {
    var outcome = KeptOutcome.known
    deskThread.finish { outcome = desk.finish() }
    weather?.stop()
    return outcome
  }

  var unconfirmed: (message: String, state: String)? {
    let newest = channel.state.newest
    if case .shutDown = newest.state, newest.confirmation.isConfirmed { return nil }
    return ("the valves' lines have not confirmed that every one is off", "\(newest.state)")
  }

  private func log(_ notice: IrrigationNotice, _ logger: Logger) {
    func line(_ level: Logger.Level, _ message: Logger.Message, _ metadata: Logger.Metadata) {
      logger.log(level: level, message, metadata: metadata.merging(["system": "sprinkler"]) { first, _ in first })
    }
    switch notice.subject {
    case .opened(let run), .reopened(let run, _):
      line(.info, "zone on", ["zoneId": "\(run.zone)", "seconds": "\(run.seconds)", "run": "\(run.id)"])
    case .ended(let ended):
      line(
        .info, ended.opened == nil ? "run not begun" : "zone off",
        [
          "zoneId": "\(ended.run.zone)", "ran_s": "\((ended.ran.inSeconds * 1_000).rounded() / 1_000)",
          "outcome": "\(ended.outcome)",
          "run": "\(ended.run.id)",
        ])
    case .extended(let run, _): line(.info, "run extended", ["zoneId": "\(run.zone)", "run": "\(run.id)"])
    case .state(let state): line(state.logLevel, "sprinkler", ["state": "\(state)"])
    case .master(let isOpen): line(.info, isOpen ? "master valve open" : "master valve closed", [:])
    case .flowAlarm(let alarm): line(.error, "flow alarm", ["alarm": "\(alarm)"])
    case .flowNormal: line(.notice, "the flow is as it should be again", [:])
    case .linesDiffer(let told, let read):
      line(
        .error, "lines are not as they were told",
        ["told": "\(String(told, radix: 2))", "read": "\(String(read, radix: 2))"])
    case .linesAgree: line(.notice, "the lines are as they were told again", [:])
    }
  }
}

extension IrrigationState {
  fileprivate var logLevel: Logger.Level {
    switch self {
    case .idle, .watering, .paused, .shutDown: .info
    case .emergencyStopped: .warning
    case .fault: .error
    }
  }
}
