import Buses
import BusesLinux
import CDaemon
import Confinement
@_spi(FromOutside) import Conversions
import Dispatch
import Glibc
import Logging
import Service
import Tactus
import TactusGuard
import WallTime

/// The running program: it makes, starts, watches and stops all parts.
///
/// The main thread blocks in `ServiceEvents.wait` and does the work that may take time: logging, restarting the guard,
/// and notifying the service manager. No loop waits for the main thread. The main thread waits for no disk until the
/// program stops, because clients wait for the answers that it delivers, and the service manager for its heartbeats.
/// Work that may wait for a disk runs on a `DeskThread`.
final class Daemon {
  private let configuration: Configuration
  private let logger: Logger
  private let log: ProgramLog
  private let notifier: ServiceNotifier
  private let systems: [any DaemonSystem]
  /// The systems that have a control loop.
  private let loops: [any LoopSystem]
  /// The store, or `nil` if no system keeps anything.
  private let store: DaemonStore?
  private let clock = WatchedWallClock()
  private let runtime: Runtime
  private let guardSupervision: GuardSupervision
  /// The note about the safe state for the next start, or `nil` if no plan is left or everything is simulated.
  private let note: SafeStateNote?
  /// The instants at which the outputs of the previous program were turned off, on the clock of this boot; empty if
  /// they are unknown.
  private let endedBefore: [TickInstant]
  private var stopWatch: GuardStopWatch
  /// The note about emergency stops for the next start, or `nil` if no plan is left.
  private let emergencyStops: EmergencyStopNote?
  /// The service, or `nil` if it is switched off.
  let service: ServiceComposition?
  private let troubles: TroubleWatch?
  private let spawner: SpawnerWatch
  /// The connection to the broker, or `nil` if the file has no `mqtt` section.
  private let broker: DaemonBroker?
  /// The messages to people, or `nil` if the file has no `notify` section.
  private let notices: NoticeDesk?
  private var announcement: Announcement?
  private let reloader: Reloader
  private var reload: ReloadRun?
  /// The log of the performance, or `nil` if it is not enabled.
  private var performance: PerformanceLog?
  private var supervisorNotices: RingReader<SupervisorNotice>
  private let logFile = DispatchQueue(label: "tactus.log-file")
  private let zone: MachineZone

  struct Options {
    var simulate: Bool
    var logFormat: LogFormat
    var environment: [String: String]
    /// The values of the configuration file as they were read.
    var found = ConfigReader.Result()
    /// The file with the safe-state plan, or `nil` if no plan is left for a stop hook.
    var planFile: SafeStatePlanFile?
    /// The programs that had the program's ports before it confined itself.
    var portOwners = PortOwners()
    /// The time zone of the machine, as it was found before the program confined itself.
    var zone = MachineZone(.utc, source: "the default")
  }

  /// Opens the store, starts the guard, opens buses and ports, and makes the loops. Nothing is written to an actuator
  /// yet.
  ///
  /// - Parameter configuration: a configuration with at least one system.
  init(
    _ configuration: Configuration, options: Options, logger: Logger, log: ProgramLog, events: borrowing ServiceEvents
  ) throws {
    (self.configuration, self.logger, self.log) = (configuration, logger, log)
    zone = options.zone
    performance = configuration.logsPerformance ? PerformanceLog(at: MonotonicClock.now) : nil
    notifier = ServiceNotifier(environment: options.environment)

    let store = try DaemonStore(
      for: configuration, simulate: options.simulate, environment: options.environment, logger: logger)
    self.store = store
    let button = events.doorbell.button
    note = options.simulate ? nil : options.planFile.map { SafeStateNote(beside: $0.path) }
    let left = note?.read()
    endedBefore = left?.instants(in: BootClock.boot) ?? []
    let surroundings = SystemSurroundings(
      configuration: configuration, store: store, simulate: options.simulate, bell: button, clock: clock,
      zone: options.zone.rules, logger: logger, log: log,
      madeSafe: left, endedWithoutStop: note?.isOfOthers ?? false, portOwners: options.portOwners)
    let systems = try configuration.systems.all.map { try $0.open(surroundings) }
    let loops = systems.compactMap { $0 as? any LoopSystem }
    (self.systems, self.loops) = (systems, loops)
    let link = try Self.startGuard(configuration, holding: loops.flatMap(\.heldLines), options, logger, note)
    // The shared page outlives each guard.
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
    let broker = try Self.broker(configuration, served, systems, options, log)
    let taken = TakenFile(configuration: configuration, found: options.found)
    let spawner = SpawnerWatch(logger)
    let notices = Self.notices(configuration, of: systems, served, clock, options, log) { [trouble = broker?.trouble] in
      [store?.trouble, NoticeFacts.lostGuard(guardHealth), spawner.trouble, trouble?(), log.trouble].compactMap(\.self)
    }
    let clients = try ServiceClients(configuration, logger: log.logger("service"))
    let reloader = Reloader(taken, environment: options.environment, threshold: log.threshold) {
      old, new throws(APIError) in
      [notices?.change(from: old, to: new), try clients.change(from: old, to: new)].compactMap(\.self)
    }
    (self.broker, self.spawner, self.notices, self.reloader) = (broker, spawner, notices, reloader)
    let doorCounters = ServiceCounters()
    let others = Self.metrics(doorCounters, guardHealth, broker, store, notices, log)
    let own =
      Self.routes(of: systems, log, reloader) + Self.measurements(of: runtime, Self.metrics(of: systems) + others)
      + [broker?.route, notices?.route].compactMap(\.self)
    let support = SupportRoute(
      taken: { reloader.taken }, systems: served, routes: own,
      // A file that is read again has no secrets of other files, which only a start reads.
      secrets: [options.environment["TACTUS_TOKEN"]].compactMap(\.self) + configuration.secrets)
    let stored = store.map { store in
      StoreRoutes(
        file: store.file, configuration: configuration.file,
        tokens: configuration.tokenPath(environment: options.environment), environment: options.environment,
        live: surroundings.offers.find(LiveRestore.self))
    }
    service = try ServiceComposition(
      configuration, systems: served,
      additions: Self.additions(of: systems),
      routes: own + [support.route] + (stored?.routes ?? []),
      clients: clients, counters: doorCounters, guardHealth: guardHealth,
      zone: options.zone, mounts: configuration.mounts(simulate: options.simulate, environment: options.environment),
      environment: options.environment, localAccess: options.planFile.map { LocalAccessFile(beside: $0.path) },
      logger: log.logger("service"))
    troubles = service.map { TroubleWatch($0, store: store, spawner: spawner, broker: broker?.trouble, log: log) }
  }

  /// Returns the connection to the broker, not started yet, or `nil` if none is configured.
  private static func broker(
    _ configuration: Configuration, _ served: [any ServedSystem], _ systems: [any DaemonSystem], _ options: Options,
    _ log: ProgramLog
  ) throws -> DaemonBroker? {
    guard let mqtt = configuration.mqtt else { return nil }
    let others = systems.flatMap(\.brokerParticipants)
    return try DaemonBroker(mqtt, served: served, others: others, logger: log.logger("mqtt")) {
      try BrokerConnection(mqtt, environment: options.environment, portOwners: options.portOwners, deliver: $0)
    }
  }

  /// Leaves the safe-state plan for a stop hook and starts the guard. Returns `nil` if the guard is switched off or has
  /// no outputs to write to.
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
    // Lines are written first, since they need no bus that could hang.
    let writes = lines.map { SafeStateWrite.gpio($0) } + busWrites
    guard !writes.isEmpty else { return nil }
    return try DaemonGuard.start(
      writes, timeoutSeconds: configuration.guardTimeoutSeconds, watchdog: configuration.watchdog,
      format: options.logFormat, note: note?.begin(logger))
  }

  /// The addresses on which the systems listen, with the ports in effect, by the names of the systems.
  var endpoints: [String: [Endpoint]] { Dictionary(uniqueKeysWithValues: systems.map { ($0.name, $0.endpoints) }) }

  /// Starts the loops, calls `started`, and returns the exit status when a signal has requested a stop and every
  /// actuator is in its safe state.
  func run(events: borrowing ServiceEvents, started: () -> Void) throws -> Int32 {
    do {
      // Everything that may have to be started or opened again has been declared, and no client has been heard yet.
      if Spawner.seal() < 0 { spawner.check() }
      makeTaskThreads()
      // The port is bound first: one that is taken must end the start before an actuator is touched.
      try service?.service.bind()
      try DescriptorLimit.requireSpare(lanes: loops.count + 1)
      // Half of the program was needed to read the file and to compose the systems. It would be locked in memory from here on.
      daemon_release_code()
      emergencyStops?.restore(systems.map(\.served))
      guardSupervision.keeper?.begin()
      try runtime.start()
      troubles?.check()
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
    service?.writeLocalAccess()
    announcement = service?.announce(configuration)
    started()
    notifier.ready(status: status)
    while true {
      for event in events.wait() {
        switch event {
        case .stop(let signal):
          return stop("signal \(signal == SIGTERM ? "SIGTERM" : "SIGINT")")
        case .reopenLog:
          // The line is written on a queue of its own, since a disk may stall here, too.
          logFile.async { [sink = log.sink, logger] in
            do throws(FileFailure) { try sink.reopen() } catch {
              logger.warning("the log file cannot be opened again", metadata: ["reason": .string(error.reason)])
            }
          }
        case .childEnded:
          keeper?.check()
          spawner.check()
        case .doorbell:
          takeNotices()
        case .input: break
        }
      }
    }
  }

  /// Runs a task, so that the pool of tasks exists before it is needed. Making it takes descriptors, of which none may be left when the program must
  /// stop because it has no guard.
  private func makeTaskThreads() {
    let hasRun = DispatchSemaphore(value: 0)
    Task { hasRun.signal() }
    hasRun.wait()
  }

  /// The status for the service manager: `runs robot, sprinkler; listens on http://127.0.0.1:8000, UDP 127.0.0.1:5005`.
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
    // If several systems listen, `listen` is the value of the first.
    for system in systems { metadata.merge(system.startMetadata) { first, _ in first } }
    metadata["time_zone"] = .string(zone.summary(at: .now))
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
    if let remark = zone.remark {
      logger.warning("the time zone: \(remark)", metadata: ["time_zone": .string(zone.rules.identifier)])
    }
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
    publish(guardSupervision.takeOutcomes(at: MonotonicClock.now))
    for system in systems {
      takeAnswers(of: system, at: MonotonicClock.now)
      // Notices are taken and logged even without a service.
      let events = system.takeNotices(logger)
      publish(events)
    }
    let news = SupervisorNews { supervisorNotices.pop() }
    for notice in news.others {
      switch notice {
      case .stalled(let loop, let time):
        service?.service.setStalled(true, loop: loops[loop].loopName)
        notices?.setStalled(true, loop: loops[loop].loopName)
        logger.critical(
          "the control loop has not ticked for \(time)", metadata: ["loop": .string(loops[loop].loopName)])
      case .resumed(let loop):
        service?.service.setStalled(false, loop: loops[loop].loopName)
        notices?.setStalled(false, loop: loops[loop].loopName)
        logger.notice("the control loop ticks again", metadata: ["loop": .string(loops[loop].loopName)])
      case .guardHangs(let instant): keeper?.checkAfterHang(at: instant)
      case .beat, .pulse: break
      }
    }
    if let instant = news.beat { beat(at: instant) }
    if news.hasPulse {
      notifier.watchdog()
      log.tellExcess()
      for system in systems { system.report(logger) }
    }
  }

  /// Does the work that is due ten times a second.
  private func beat(at instant: TickInstant) {
    if let event = stopWatch.check(at: instant) {
      publish([event])
    }
    for system in systems {
      takeAnswers(of: system, at: instant)
      system.beat(at: instant)
    }
    store?.beat(at: instant)
    // A jump is noticed when the clock is read.
    _ = clock.now
    beatReload(at: instant)
    publish(guardSupervision.beat(at: instant))
    troubles?.beat()
    notices?.beat(at: instant)
    if let events = service?.service.beat(at: instant) { broker?.publish(events) }
    broker?.beat(at: instant)
    if let figures = performance?.beat({ runtime.statistics.loops }, at: instant) {
      logger.info("performance", metadata: figures)
    }
  }

  /// Delivers a loop's answers, after noting an emergency stop that one of them may confirm, so that a stop of which a client has been told also
  /// holds after a restart.
  private func takeAnswers(of system: any DaemonSystem, at now: TickInstant) {
    system.takeAnswers(at: now) { emergencyStops?.update(from: systems.map(\.served)) }
  }

  private func beatReload(at now: TickInstant) {
    if reload == nil { reload = reloader.begin(systems, at: now) }
    if reload?.beat(at: now) == true { reload = nil }
  }

  private var keeper: GuardKeeper? { guardSupervision.keeper }

  private func publish(_ events: [Event]) {
    guard !events.isEmpty else { return }
    service?.service.publish(events)
    broker?.publish(events)
    notices?.hear(events)
  }

  /// Stops the actuators, then all other parts. Returns 0 if every actuator confirmed its safe state.
  private func stop(_ reason: String) -> Int32 {
    notifier.stopping()
    emergencyStops?.update(from: systems.map(\.served))
    emergencyStops?.end()
    // The actuators stop first, since the service can wait for a client for most of a second.
    runtime.stop()
    let stopped = BootClock.now
    reloader.stop()
    reload?.stop()
    reload = nil
    for system in systems { system.finish(logger) }
    takeNotices()
    notices?.stop()
    broker?.stop()
    announcement?.stop()
    service?.removeLocalAccess()
    service?.service.stop()
    let outcomes = systems.map { $0.finishKeeping() }
    // The store closes last, since a request or a system's last notice may need it until here.
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
