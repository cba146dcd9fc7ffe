import Buses
import BusesLinux
import Logging
import Pump
import Service
import Tactus
import TactusDaemon
import Wire

/// The cooling pump that is this machine's own, in the daemon: its motor, inputs, links and its lane.
final class DaemonPumpDevice: LoopSystem {
  let name = "pump"
  let loopName = "pump"
  let simulation: SimulatedSurroundings?
  private let configuration: Configuration.Pump
  private let inFile: Guarded<Configuration.Pump>
  private let hardware: PumpDeviceHardware
  private let links: PumpDeviceLinks
  private let door: PumpDeviceDoor
  private let history: PumpHistory
  private let limit: PumpLimitKeeper
  private let rules: WantedRules<PumpDeviceSettings>
  private let channel = PumpDeviceLoop.channel()
  private let requestBell: Doorbell
  private var notices: RingReader<PumpDeviceNotice>
  private let deskThread = DeskThread("pump")

  /// Missed in a row, these are a fault: before the guard turns the motor off, so that it is not believed to run then.
  private let safeStateAfter: Int

  /// Opens motor, inputs and line. The motor gets nothing yet.
  ///
  /// - Parameter guardTimeoutSeconds: after which the guard turns the motor off.
  init(
    _ pump: Configuration.Pump, history: PumpHistory, limit: PumpLimitKeeper, guardTimeoutSeconds: Double,
    simulate: Bool, logger: Logger
  ) throws {
    safeStateAfter = Self.safeStateAfter(guardTimeoutSeconds: guardTimeoutSeconds)
    configuration = pump
    inFile = Guarded(pump)
    rules = WantedRules(RulesBox(pump.deviceSettings))
    self.history = history
    self.limit = limit
    hardware = try PumpDeviceHardware(pump, simulate: simulate)
    let links = try PumpDeviceLinks(pump, simulate: simulate, logger: logger)
    self.links = links
    notices = channel.noticeReader()
    let bell = try Doorbell()
    requestBell = bell
    door = PumpDeviceDoor(
      channel: channel, links: links.reports, history: history, ring: { bell.button.ring() })
    simulation = hardware.world.map { world in
      SimulatedSurroundings(
        buses: [SimulatedBus("pump", .twin(SimulatedPump(world)))] + links.buses, lanes: [:],
        routes: SimulatedPump(world).routes)
    }
  }

  /// 10, half a second; less when the guard is faster than that.
  static func safeStateAfter(guardTimeoutSeconds: Double) -> Int {
    let releases = Int(saturating: guardTimeoutSeconds * 1e9) / Int(PumpDeviceLoop.rate.period.count)
    return min(10, max(2, releases - 2))
  }

  var endpoints: [Endpoint] { [] }
  var startMetadata: Logger.Metadata { ["pump": .string(configuration.summary)] }
  var heartbeat: LatestVersion { channel.state.version }

  func lane(bell: DoorbellButton) -> Lane {
    let commandAge = DataAge("command", fromOutside: .releasesLoop)
    // The inputs are read in turns, and each reading may be used for a second.
    let temperatureAge = DataAge("temperature", fromOutside: .unknown)
    return Lane("pump") {
      Loop(
        loopName, every: PumpDeviceLoop.rate, late: .skip, safeStateAfter: safeStateAfter,
        counting: simulation.countedMisses(lane: "pump"),
        inputs: links.loopInputs + hardware.loopInputs + [requestBell.loopInput],
        // A line that is gone polls readable until it is opened anew.
        minimumInterval: .milliseconds(5), ages: [commandAge, temperatureAge]
      ) {
        PumpDeviceLoop(
          rules.box.input(), governor: limit.resume(configuration.deviceSettings.governor()),
          link: links.serial(), second: links.bluetooth(), motor: hardware.motor(),
          inputs: hardware.inputs(), channel: channel.loopEnds(requestBell: requestBell.input, bell: bell),
          commandAge: commandAge.meter(), temperatureAge: temperatureAge.meter())
      }
    }
  }

  /// A longer run, a shorter rest and running on where it would have stopped wait until the pump is off.
  func change(to new: Configuration) -> (any RulesChange)? {
    guard let new = new.pump else { return nil }
    let keys = KeyChange.between(inFile.value.reloadable, new.reloadable)
    return rules.change(of: name, keys, to: new.deviceSettings) { [inFile] in inFile.value = new }
  }

  var heldLines: [LinuxGPIOLines] { [] }
  var brokerParticipants: [any BrokerParticipant] { [] }
  var heartbeatPeriod: Nanoseconds { .zero }
  func beat(at now: TickInstant) {}
  var served: any ServedSystem { door }
  var metrics: any MetricSource { PumpDeviceMetrics(door) }

  func takeAnswers(at now: TickInstant) { door.takeAnswers(at: now) }

  func takeNotices(_ logger: Logger) -> [Event] {
    var events: [Event] = []
    while let notice = notices.pop() {
      log(notice, logger)
      if let event = door.edge(notice) { events.append(event) }
      guard case .state(let state) = notice.subject else { continue }
      let governor = newest.governor
      deskThread.run { [history, limit, sample] in
        // It was published before it was told.
        limit.keep(governor)
        return history.take(state, by: notice.source, at: notice.at, sample).map { [$0] } ?? []
      }
    }
    return events + deskThread.takeEvents()
  }

  func started() { links.start() }

  private var sample: PumpHistory.Sample {
    let newest = newest
    var speed: Double?
    if case .on(let running) = newest.state { speed = Double(running.percent) }
    return PumpHistory.Sample(
      speedPercent: speed, waterCelsius: newest.water.measured?.celsius,
      skinCelsius: newest.skin.measured?.celsius)
  }

  func report(_ logger: Logger) {
    let newest = newest
    deskThread.beat { [history, limit, sample] in
      history.tick(sample, at: MonotonicClock.now)
      if newest.at > .zero { limit.keep(newest.governor) }
      return []
    }
    do throws(BusOpenError) {
      guard try links.mend(isDown: !newest.isFirstConnected) else { return }
      logger.notice(
        "the pump's line is open again", metadata: ["system": "pump", "line": .string(configuration.device ?? "")])
    } catch {
      logger.debug("the pump's line cannot be opened", metadata: ["system": "pump", "reason": .string("\(error)")])
    }
  }

  func finish(_ logger: Logger) {
    _ = takeNotices(logger)
    links.stop()
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
    let state = newest.state
    return state == .shutDown(.confirmed) ? nil : ("the motor's output has not confirmed that it is off", "\(state)")
  }

  private var newest: PumpDeviceSnapshot { door.newest }

  private func log(_ notice: PumpDeviceNotice, _ logger: Logger) {
    switch notice.subject {
    case .state(let state):
      var metadata: Logger.Metadata = ["system": "pump", "state": .string("\(state)")]
      if let source = notice.source { metadata["source"] = .string("\(source)") }
      if let wayOut = state.wayOut { metadata["way_out"] = .string(wayOut) }
      logger.log(level: state.logLevel, "pump", metadata: metadata)
    case .outputFails(let error):
      logger.error("the motor's output fails", metadata: ["system": "pump", "failure": .string("\(error)")])
    }
  }
}

extension PumpDeviceState {
  fileprivate var logLevel: Logger.Level {
    switch self {
    case .off, .on, .shutDown: .info
    case .emergencyStopped, .error(.runLimit, _), .error(.silence, _): .warning
    case .error: .error
    }
  }
}
