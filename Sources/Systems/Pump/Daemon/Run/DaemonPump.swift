import Buses
import BusesLinux
import Logging
import Pump
import Service
import Tactus
import TactusDaemon
import Wire

/// The cooling pump in the daemon: its line and its lane.
final class DaemonPump: LoopSystem {
  let name = "pump"
  let loopName = "pump"
  let simulation: SimulatedSurroundings?
  private let configuration: Configuration.Pump
  private let inFile: Guarded<Configuration.Pump>
  private let hardware: PumpHardware
  private let door: PumpDoor
  private let history: PumpHistory
  private let limit: PumpLimitKeeper
  private let rules: WantedRules<PumpOperatorSettings>
  private let channel = PumpOperatorLoop.channel()
  private let requestBell: Doorbell
  private var notices: RingReader<PumpNotice>
  private let deskThread = DeskThread("pump")
  private var isOffSaid = false

  /// Opens the line. Nothing is written to it yet.
  init(_ pump: Configuration.Pump, history: PumpHistory, limit: PumpLimitKeeper, simulate: Bool, logger: Logger) throws
  {
    configuration = pump
    inFile = Guarded(pump)
    rules = WantedRules(RulesBox(pump.settings))
    self.history = history
    self.limit = limit
    hardware = try PumpHardware(pump, simulate: simulate) { news in
      logger.log(
        level: news.isTrouble ? .notice : .debug, "the way to the pump",
        metadata: ["system": "pump", "link": .string(news.text)])
    }
    notices = channel.noticeReader()
    let bell = try Doorbell()
    requestBell = bell
    door = PumpDoor(
      channel: channel, link: hardware.report, history: history, ring: { bell.button.ring() })
    simulation = hardware.simulated.map { simulated in
      SimulatedSurroundings(
        buses: [
          SimulatedBus("pump-serial", .wire(simulated.impaired)),
          SimulatedBus("pump", .twin(SimulatedPump(simulated.pump.world))),
        ],
        lanes: ["pump": simulated.stall], routes: SimulatedPump(simulated.pump.world).routes)
    }
  }

  var endpoints: [Endpoint] { [] }
  var startMetadata: Logger.Metadata { ["pump": .string(hardware.name)] }
  var heartbeat: LatestVersion { channel.state.version }

  func lane(bell: DoorbellButton) -> Lane {
    Lane("pump") {
      Loop(
        loopName, every: PumpOperatorLoop.rate, late: .skip, safeStateAfter: 10,
        counting: simulation.countedMisses(lane: "pump"), inputs: [hardware.input, requestBell.loopInput],
        // A line that is gone polls readable until it is opened anew.
        minimumInterval: .milliseconds(10)
      ) {
        PumpOperatorLoop(
          rules.box.input(), governor: limit.resume(configuration.settings.governor()), link: hardware.link(),
          channel: channel.loopEnds(requestBell: requestBell.input, bell: bell))
      }
      if let simulated = hardware.simulated { simulated.pump.loop("pump.simulated") }
    }
  }

  /// A longer run, a shorter rest and running on where it would have stopped wait until the pump is off.
  func change(to new: Configuration) -> (any RulesChange)? {
    guard let new = new.pump else { return nil }
    let keys = KeyChange.between(inFile.value.reloadable, new.reloadable)
    return rules.change(of: name, keys, to: new.settings) { [inFile] in inFile.value = new }
  }

  var heldLines: [LinuxGPIOLines] { [] }
  var brokerParticipants: [any BrokerParticipant] { [] }
  var heartbeatPeriod: Nanoseconds { .zero }
  func beat(at now: TickInstant) {}
  var served: any ServedSystem { door }
  var metrics: any MetricSource { PumpMetrics(door) }

  func takeAnswers(at now: TickInstant) { door.takeAnswers(at: now) }

  func takeNotices(_ logger: Logger) -> [Event] {
    var events: [Event] = []
    while let notice = notices.pop() {
      log(notice, logger)
      events.append(door.edge(notice))
      guard case .state(let state, let source) = notice.subject else { continue }
      let governor = newest.governor
      deskThread.run { [history, limit, sample] in
        // It was published before it was told.
        limit.keep(governor)
        return history.take(state, by: source, at: notice.at, sample).map { [$0] } ?? []
      }
    }
    return events + deskThread.takeEvents()
  }

  func started() { hardware.real?.start() }

  private var sample: PumpHistory.Sample {
    let newest = newest
    return PumpHistory.Sample(
      speedPercent: newest.speed.map { Double($0.speed.percent) },
      waterCelsius: newest.temperatures.water.measured?.celsius,
      skinCelsius: (newest.temperatures.skin.measured ?? newest.temperatures.single.measured)?.celsius)
  }

  func report(_ logger: Logger) {
    let newest = newest
    deskThread.beat { [history, limit, sample] in
      history.tick(sample, at: MonotonicClock.now)
      if newest.at > .zero { limit.keep(newest.governor) }
      return []
    }
    guard let line = hardware.real else { return }
    var isDown = false
    if case .down = newest.contact { isDown = true }
    do throws(BusOpenError) {
      guard try line.mend(isDown: isDown) else { return }
      logger.notice(
        "the pump's line is open again", metadata: ["system": "pump", "line": .string("\(line.address)")])
    } catch {
      logger.debug("the pump's line cannot be opened", metadata: ["system": "pump", "reason": .string("\(error)")])
    }
  }

  /// The loop had no time to wait for the pump's word.
  func finish(_ logger: Logger) {
    _ = takeNotices(logger)
    guard let line = hardware.real else { return }
    defer { line.stop() }
    guard newest.state != .shutDown(.confirmed) else { return }
    do {
      isOffSaid = try PumpFarewell(line: line, isUp: newest.contact.isUp).say()
    } catch {
      logger.warning("the pump's line fails", metadata: ["system": "pump", "failure": .string("\(error)")])
    }
  }

  /// A limit that could not be kept goes on counting until the next start.
  func finishKeeping() -> KeptOutcome {
    deskThread.finish {
      history.finish()
      keepLimit()
    }
    return .known
  }

  private func keepLimit() {
    let newest = newest
    // Before the first tick there is nothing to keep.
    if newest.at > .zero { limit.keep(newest.governor) }
  }

  var unconfirmed: (message: String, state: String)? {
    if let simulated = hardware.simulated {
      let state = simulated.pump.newest.state
      return state == .shutDown(.confirmed) ? nil : ("the simulated pump is not off", "\(state)")
    }
    let state = newest.state
    return isOffSaid || state == .shutDown(.confirmed)
      ? nil : ("the pump has not confirmed that it is off", "\(state)")
  }

  private var newest: PumpSnapshot { door.newest }

  /// One line for a change of the pump or of its connection.
  private func log(_ notice: PumpNotice, _ logger: Logger) {
    switch notice.subject {
    case .state(let state, let source):
      var metadata: Logger.Metadata = ["system": "pump", "state": .string("\(state)")]
      if let source { metadata["source"] = .string("\(source)") }
      if let wayOut = state.wayOut { metadata["way_out"] = .string(wayOut) }
      logger.log(level: state.logLevel, "pump", metadata: metadata)
    case .contact(let contact):
      logger.log(
        level: contact.isAnswering ? .info : .notice, "the pump's connection",
        metadata: ["system": "pump", "contact": .string("\(contact)")])
    case .failed(let failure):
      logger.warning("a command to the pump failed", metadata: ["system": "pump", "failure": .string("\(failure)")])
    }
  }
}

extension PumpOperatorState {
  fileprivate var logLevel: Logger.Level {
    switch self {
    case .off, .starting, .on, .shutDown: .info
    case .unknown, .emergencyStopped, .fault(.runLimit, _): .warning
    case .fault: .error
    }
  }
}
