import Buses
import BusesLinux
import CDaemon
import Confinement
import Dispatch
import Glibc
import Logging
import Service
import Tactus
import TactusGuard

/// The running program: everything composed, started, watched and stopped.
///
/// The main thread blocks in `ServiceEvents.wait` and does what may take time: logging, the guard's restart, the service
/// manager. No loop waits for it, and it waits for no disk until everything is to stop: clients wait for the answers that it hands out,
/// the service manager for its signs of life. What may wait for a disk is a `DeskThread`'s.
final class Daemon {
  private let configuration: Configuration
  private let logger: Logger
  private let log: ProgramLog
  private let notifier: ServiceNotifier
  private let systems: [any DaemonSystem]
  /// Those of them that have a control loop.
  private let loops: [any LoopSystem]
  /// The store, or `nil` if no system keeps anything.
  private let store: DaemonStore?
  private let clock = WatchedWallClock()
  private let runtime: Runtime
  private let guardSupervision: GuardSupervision
  /// `nil` if no plan is left, or everything is simulated.
  private let note: SafeStateNote?
  /// When the outputs of the program before this one were turned off, by this boot's clock; empty if that is unknown.
  private let endedBefore: [TickInstant]
  private var stopWatch: GuardStopWatch
  /// `nil` if no plan is left.
  private let emergencyStops: EmergencyStopNote?
  /// The service, or `nil` if it is switched off.
  let service: ServiceComposition?
  private let troubles: TroubleWatch?
  private let spawner: SpawnerWatch
  /// The connection to the broker, or `nil` if the file has no `mqtt` section.
  private let broker: DaemonBroker?
  private var announcement: Announcement?
  private let reloader: Reloader
  private var reload: ReloadRun?
  /// `nil` if it is not logged.
  private var performance: PerformanceLog?
  private var supervisorNotices: RingReader<SupervisorNotice>
  private let logFile = DispatchQueue(label: "tactus.log-file")

  struct Options {
    var simulate: Bool
    var logFormat: LogFormat
    var environment: [String: String]
    /// What the file said when it was read.
    var found = ConfigReader.Result()
    /// `nil` if no plan is left for a stop hook.
    var planFile: SafeStatePlanFile?
    /// The holders of the program's ports before it confined itself.
    var portOwners = PortOwners()
  }

  /// Opens the store, starts the guard, opens buses and ports, composes the loops. Nothing is written to an actuator yet.
  ///
  /// - Parameter configuration: with at least one system.
  init(
    _ configuration: Configuration, options: Options, logger: Logger, log: ProgramLog, events: borrowing ServiceEvents
  ) throws {
    self.configuration = configuration
    self.logger = logger
    self.log = log
    performance = configuration.logsPerformance ? PerformanceLog(at: MonotonicClock.now) : nil
    notifier = ServiceNotifier(environment: options.environment)

    let store = try DaemonStore(
      for: configuration, simulate: options.simulate, environment: options.environment, logger: logger)
    self.store = store
    let button = events.doorbell.button
    let note = options.simulate ? nil : options.planFile.map { SafeStateNote(beside: $0.path) }
    let left = note?.read()
    self.note = note
    endedBefore = left?.instants(in: BootClock.boot) ?? []
    let surroundings = SystemSurroundings(
      configuration: configuration, store: store, simulate: options.simulate, bell: button, clock: clock,
      logger: logger, log: log,
      madeSafe: left, endedWithoutStop: note?.isOfOthers ?? false, portOwners: options.portOwners)
    let systems = try configuration.systems.all.map { try $0.open(surroundings) }
    self.systems = systems
    let loops = systems.compactMap { $0 as? any LoopSystem }
    self.loops = loops
    let link = try Self.startGuard(configuration, holding: loops.flatMap(\.heldLines), options, logger, note)
    // The page outlives each guard.
    let stops = link?.stops
    let keeper = link.map { GuardKeeper($0, bell: button) }
    let guardHealth = GuardHealth(keeper == nil ? .none : .watching)
    guardSupervision = GuardSupervision(keeper, health: guardHealth, systems: systems.map(\.served), logger: logger)
    let served = systems.map { UnguardedSystem($0.served, guardHealth) }
    let ofGuard = left.flatMap { $0.isOrderly ? nil : $0 }
    stopWatch = GuardStopWatch(stops, left: ofGuard, health: guardHealth, logger: logger)
    emergencyStops = options.planFile.flatMap { EmergencyStopNote(beside: $0.path, logger) }

    let supervisor = Ring<SupervisorNotice>(capacity: 64)
    runtime = try Self.runtime(configuration, loops, supervisor, keeper, stops, bell: button)
    supervisorNotices = supervisor.reader()
    let broker = try configuration.mqtt.map { mqtt in
      try DaemonBroker(
        mqtt, served: served, others: systems.flatMap(\.brokerParticipants), logger: log.logger("mqtt")
      ) {
        try BrokerConnection(mqtt, environment: options.environment, portOwners: options.portOwners, deliver: $0)
      }
    }
    self.broker = broker
    let reloader = Reloader(
      TakenFile(configuration: configuration, found: options.found), environment: options.environment,
      threshold: log.threshold)
    self.reloader = reloader
    let doorCounters = ServiceCounters()
    let others: [(any MetricSource)?] = [
      ServiceMetrics(doorCounters), GuardMetrics(guardHealth), broker?.metrics, store.map { StoreMetrics($0.file) },
    ]
    service = try ServiceComposition(
      configuration, systems: served,
      additions: Self.additions(of: systems),
      routes: LogRoutes(history: log.history, threshold: log.threshold).routes
        + Self.routes(of: systems, reloader: reloader)
        + Self.measurements(of: runtime, Self.metrics(of: systems) + others.compactMap(\.self))
        + [broker?.route].compactMap(\.self),
      counters: doorCounters, guardHealth: guardHealth,
      mounts: configuration.mounts(simulate: options.simulate, environment: options.environment),
      environment: options.environment, door: options.planFile.map { LocalDoor(beside: $0.path) },
      logger: log.logger("service"))
    let spawner = SpawnerWatch(logger)
    self.spawner = spawner
    troubles = service.map { TroubleWatch($0, store: store, spawner: spawner, broker: broker?.trouble) }
  }

  /// The systems' lanes, and the supervisor's, whose loop sends the guard its heartbeats.
  private static func runtime(
    _ configuration: Configuration, _ loops: [any LoopSystem], _ supervisor: Ring<SupervisorNotice>,
    _ keeper: GuardKeeper?, _ stops: ExternalStops?, bell: DoorbellButton
  ) throws -> Runtime {
    let lanes = loops.map { $0.lane(bell: bell) }
    let heartbeats = keeper.map { HeartbeatSender(socket: $0.socket, patience: SupervisorLoop.guardPatience) }
    let patience = Nanoseconds.seconds(configuration.guardTimeoutSeconds)
    return try Runtime(strict: configuration.strict, lockMemory: configuration.lockMemory, externalStops: stops) {
      lanes
      Lane("supervisor") {
        Loop("supervisor", every: SupervisorLoop.rate) {
          SupervisorLoop(
            watching: loops.map(\.heartbeat), periods: loops.map(\.heartbeatPeriod), notices: supervisor.writer(),
            bell: bell, heartbeats: heartbeats, patience: patience)
        }
      }
    }
  }

  /// Leaves the safe-state plan for a stop hook, and starts the guard: `nil` if there is nothing that it could write to, or it is switched
  /// off.
  private static func startGuard(
    _ configuration: Configuration, holding lines: [LinuxGPIOLines], _ options: Options, _ logger: Logger,
    _ note: SafeStateNote?
  ) throws -> GuardLink? {
    let busWrites = options.simulate ? [] : SafeStatePlan.writes(for: configuration)
    if let file = options.planFile {
      do throws(FileFailure) {
        try file.replace(with: SafeStatePlan.writes(for: lines) + busWrites)
      } catch {
        logger.error(
          "the safe-state plan cannot be left: a stop hook will depend on the configuration file",
          metadata: ["plan": .string(error.path), "reason": .string(error.reason)])
      }
    }
    guard configuration.guardEnabled, !options.simulate else { return nil }
    // Lines first: they need no bus that could hang.
    let writes = lines.map { SafeStateWrite.gpio($0) } + busWrites
    guard !writes.isEmpty else { return nil }
    return try DaemonGuard.start(
      writes, timeoutSeconds: configuration.guardTimeoutSeconds, watchdog: configuration.watchdog,
      format: options.logFormat, note: note?.begin(logger))
  }

  /// Where the systems listen, the ports in effect, by the systems' names.
  var endpoints: [String: [Endpoint]] { Dictionary(uniqueKeysWithValues: systems.map { ($0.name, $0.endpoints) }) }

  /// Starts the loops, calls `started`, and returns when a signal has asked to stop and every actuator is in its safe
  /// state. The exit status.
  func run(events: borrowing ServiceEvents, started: () -> Void) throws -> Int32 {
    do {
      // Everything that may have to be started or opened again has been declared, and no client has been heard yet.
      if Spawner.seal() < 0 { spawner.look() }
      // First the port: one that is taken must stop the start before an actuator is touched.
      try service?.service.bind()
      try DescriptorLimit.requireSpare(lanes: loops.count + 1)
      // Half of the program was needed to read the file and to compose the systems. It would be locked in memory from here on.
      daemon_release_code()
      emergencyStops?.restore(systems.map(\.served))
      try runtime.start()
      troubles?.look()
      try service?.service.start()
    } catch {
      service?.service.stop()
      broker?.stop()
      guardSupervision.keeper?.dismiss()
      throw error
    }
    for system in systems { system.started() }
    broker?.start()
    reportStart()
    service?.reportStart()
    service?.openLocalDoor()
    announcement = service?.announce(configuration)
    started()
    notifier.ready(status: status)
    while true {
      for event in events.wait() {
        switch event {
        case .stop(let signal):
          return stop("signal \(signal == SIGTERM ? "SIGTERM" : "SIGINT")")
        case .reopenLog:
          // A disk may stall here, too.
          logFile.async { [sink = log.sink, logger] in
            if !sink.reopen() { logger.warning("the log file cannot be opened again") }
          }
        case .childEnded:
          keeper?.look()
          spawner.look()
        case .doorbell:
          // Before any client is answered, so that an acknowledged e-stop is noted.
          emergencyStops?.look(at: systems.map(\.served))
          takeNotices()
        case .input: break
        }
      }
    }
  }

  /// What runs and where, for the service manager: `runs robot, sprinkler; listens on http://127.0.0.1:8000, UDP 127.0.0.1:5005`.
  private var status: String {
    let places = [service?.address].compactMap(\.self) + systems.flatMap(\.endpoints).map { "UDP \($0)" }
    return "runs " + systems.map(\.name).joined(separator: ", ")
      + (places.isEmpty ? "" : "; listens on " + places.joined(separator: ", "))
  }

  private func reportStart() {
    let simulated = loops.filter { $0.simulation != nil }.map(\.name)
    var metadata: Logger.Metadata = [
      "version": .string(TactusCommand.version),
      "simulated": simulated.isEmpty || simulated.count == loops.count
        ? .stringConvertible(!simulated.isEmpty) : .string(simulated.joined(separator: ", ")),
    ]
    for system in systems { metadata.merge(system.startMetadata) { first, _ in first } }
    if let store { metadata["store"] = .string(store.file.path) }
    if let watchdog = keeper?.watchdog {
      metadata["watchdog"] = [
        "device": .string(watchdog.path), "requested_s": .stringConvertible(watchdog.timeoutSeconds),
        "effective_s": .stringConvertible(keeper?.watchdogSeconds ?? 0),
      ]
    } else if let watchdog = configuration.watchdog {
      logger.warning(
        "the hardware watchdog is not used: there is no guard to feed it", metadata: ["device": .string(watchdog.path)])
    }
    if let keeper { metadata["guard"] = .stringConvertible(Int(keeper.firstProcess)) }
    logger.info("started", metadata: metadata)
    if let watchdog = keeper?.watchdog, HardwareWatchdog.isUnstoppable(watchdog.path) {
      logger.warning(
        "the hardware watchdog cannot be stopped (nowayout): it resets the board after an orderly stop, too",
        metadata: [
          "device": .string(watchdog.path), "within_s": .stringConvertible(keeper?.watchdogSeconds ?? 0),
        ])
    }
    if !Mechanism.removed.isEmpty {
      logger.critical(
        "safety mechanisms are removed, as a test has asked for: drive nothing with this program",
        metadata: ["without": .array(Mechanism.removed.map { .string($0.rawValue) })])
    }
    if simulated.count < loops.count && keeper == nil && configuration.drives {
      logger.warning(
        "the guard is switched off: nothing stops \(configuration.whatDrives) when this program dies")
    }
    let findings =
      runtime.reports.flatMap { report in
        report.findings.map { (isRefusal: $0.isRefusal, text: "lane \(report.lane): \($0.description)") }
      } + runtime.findings.map { (isRefusal: $0.isRefusal, text: $0.description) }
    let refusals = findings.filter(\.isRefusal).map(\.text) + memoryRefusal
    if !refusals.isEmpty {
      logger.warning(
        "running without all real-time settings; `tactus doctor` says more",
        metadata: ["reasons": .array(refusals.map { .string($0) })])
    }
    for finding in findings where !finding.isRefusal { logger.debug("\(finding.text)") }
  }

  private var memoryRefusal: [String] {
    guard case .refused(let errno) = runtime.memoryLock else { return [] }
    return ["memory is not locked: \(String(cString: strerror(errno)))"]
  }

  private func takeNotices() {
    tell(guardSupervision.takeOutcomes(at: MonotonicClock.now))
    for system in systems {
      system.takeAnswers(at: MonotonicClock.now)
      // Taken, and logged, without a service, too.
      let events = system.takeNotices(logger)
      tell(events)
    }
    while let notice = supervisorNotices.pop() {
      switch notice {
      case .beat(let instant):
        if let event = stopWatch.look(at: instant) {
          service?.service.publish([event])
          broker?.tell([event])
        }
        for system in systems {
          system.takeAnswers(at: instant)
          system.beat(at: instant)
        }
        store?.beat(at: instant)
        // A jump is noticed when the clock is read.
        _ = clock.now
        beatReload(at: instant)
        tell(guardSupervision.beat(at: instant))
        troubles?.beat()
        if let events = service?.service.beat(at: instant) { broker?.tell(events) }
        broker?.beat(at: instant)
        if let figures = performance?.beat({ runtime.statistics.loops }, at: instant) {
          logger.info("performance", metadata: figures)
        }
      case .pulse:
        notifier.watchdog()
        log.tellExcess()
        for system in systems { system.report(logger) }
      case .stalled(let loop, let time):
        service?.service.setStalled(true, loop: loops[loop].loopName)
        logger.critical(
          "the control loop has not ticked for \(time)", metadata: ["loop": .string(loops[loop].loopName)])
      case .resumed(let loop):
        service?.service.setStalled(false, loop: loops[loop].loopName)
        logger.notice("the control loop ticks again", metadata: ["loop": .string(loops[loop].loopName)])
      case .guardHangs(let instant): keeper?.lookAfterHang(at: instant)
      }
    }
  }

  private func beatReload(at now: TickInstant) {
    if reload == nil { reload = reloader.begin(systems, at: now) }
    if reload?.beat(at: now) == true { reload = nil }
  }

  private var keeper: GuardKeeper? { guardSupervision.keeper }

  private func tell(_ events: [Event]) {
    guard !events.isEmpty else { return }
    service?.service.publish(events)
    broker?.tell(events)
  }

  /// Stops the actuators, then the rest. 0 when every one of them confirmed it.
  private func stop(_ reason: String) -> Int32 {
    notifier.stopping()
    emergencyStops?.look(at: systems.map(\.served))
    emergencyStops?.end()
    // The actuators first; the service can wait for a client for most of a second.
    runtime.stop()
    let stopped = BootClock.now
    reloader.stop()
    reload?.stop()
    reload = nil
    for system in systems { system.finish(logger) }
    takeNotices()
    broker?.stop()
    announcement?.stop()
    service?.closeLocalDoor()
    service?.service.stop()
    let outcomes = systems.map { $0.finishKeeping() }
    // Last: until here a request or a system's last notice may need it.
    store?.close()
    let unconfirmed = loops.compactMap { $0.unconfirmed }
    for (message, state) in unconfirmed {
      logger.critical(
        "\(message)\(keeper == nil ? "" : "; the guard goes on trying")",
        metadata: ["reason": .string(reason), "state": .string("\(state)")])
    }
    guard unconfirmed.isEmpty else { return 1 }
    guardSupervision.keeper?.dismiss()
    note?.end(unkept: KeptOutcome.ends(outcomes, before: endedBefore, now: stopped))
    logger.info("stopped", metadata: ["reason": .string(reason)])
    return 0
  }
}
