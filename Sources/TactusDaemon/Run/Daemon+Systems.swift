import Buses
@_spi(FromOutside) import Conversions
import Service
import Tactus
import TactusGuard
import Wire

/// The routes of the daemon and of its systems.
extension Daemon {
  /// Returns the runtime with the lanes of the systems and that of the supervisor, whose loop sends the heartbeats to
  /// the guard.
  static func runtime(
    _ configuration: Configuration, _ loops: [any LoopSystem], _ supervisor: Ring<SupervisorNotice>,
    _ keeper: GuardKeeper?, _ stops: ExternalStops?, bell: DoorbellButton
  ) throws -> Runtime {
    let lanes = loops.map { $0.lane(bell: bell) }
    let heartbeats = keeper.map { HeartbeatSender(socket: $0.socket, patience: SupervisorLoop.guardPatience) }
    let patience = Nanoseconds.seconds(configuration.guardTimeoutSeconds)
    return try Runtime(
      strict: configuration.strict, lockMemory: configuration.lockMemory, externalStops: stops,
      recorder: configuration.recorder
    ) {
      lanes
      Lane("supervisor") {
        Loop("supervisor", every: SupervisorLoop.rate) {
          SupervisorLoop(
            watching: loops.map(\.heartbeat), periods: loops.map(\.heartbeatPeriod), notices: supervisor.writer(),
            bell: bell, heartbeats: heartbeats, patience: patience)
        }.unrecorded()
      }
    }
  }

  /// Returns the words of each declared system's notices that are trouble, with their sentences.
  static func troubleWords(of systems: [any DaemonSystem]) -> [String: [String: String]] {
    systems.reduce(into: [:]) { words, system in
      guard let declaration = (system as? any DeclaredSystem)?.declaration ?? nil else { return }
      for notice in declaration()["notices"]?.items ?? [] where notice["trouble"] == .boolean(true) {
        words[system.name, default: [:]][notice["name"]?.string ?? ""] = notice["meaning"]?.string
      }
    }
  }

  /// Returns the routes `/api/runtime` and `/metrics`.
  static func measurements(of runtime: Runtime, _ sources: [any MetricSource]) -> [Route] {
    [
      .runtime(runtime, version: TactusCommand.version, now: { MonotonicClock.now }),
      .metrics([RuntimeMetrics(runtime, version: TactusCommand.version)] + sources + [ProcessMetrics()]),
      .recording(runtime),
    ]
  }

  /// Returns the routes of the log and those that systems have in addition to those of their doors: simulation,
  /// declarations and settings.
  static func routes(of systems: [any DaemonSystem], _ log: ProgramLog, _ reloader: Reloader) -> [Route] {
    LogRoutes(history: log.history, threshold: log.threshold).routes
      + routes(of: systems.compactMap { ($0 as? any LoopSystem)?.simulation })
      + [declarations(of: systems), reloader.route, reloader.settings, reloader.setting]
      + systems.compactMap { ($0 as? any DeclaredSystem)?.settingsRoute(reloader) }
  }

  /// Returns the metrics of the daemon itself.
  static func metrics(
    _ door: ServiceCounters, _ guardHealth: GuardHealth, _ broker: DaemonBroker?, _ store: DaemonStore?,
    _ notices: NoticeDesk?, _ log: ProgramLog
  ) -> [any MetricSource] {
    let sources: [(any MetricSource)?] = [
      ServiceMetrics(door), GuardMetrics(guardHealth), broker?.metrics, store.map { StoreMetrics($0.file) },
      notices.map { NoticeMetrics(desk: $0) }, LogMetrics(log: log),
    ]
    return sources.compactMap(\.self)
  }

  /// Returns the messages to people, or `nil` if the file has no `notify` section.
  static func notices(
    _ configuration: Configuration, of systems: [any DaemonSystem], _ served: [any ServedSystem],
    _ clock: WatchedWallClock, _ options: Options, _ log: ProgramLog,
    troubles: @escaping @Sendable () -> [ServiceTrouble]
  ) -> NoticeDesk? {
    guard let notify = configuration.notify else { return nil }
    let path = configuration.noticesPath(simulate: options.simulate, environment: options.environment)
    let sources = NoticeDesk.Sources(
      systems: served, troubleWords: troubleWords(of: systems), troubles: troubles, clock: clock)
    return NoticeDesk(notify, path: path, sources: sources, zone: options.zone.rules, logger: log.logger("notify"))
  }

  /// Returns the routes below `/api/sim` of the simulated systems, or no routes if all hardware is real.
  static func routes(of surroundings: [SimulatedSurroundings]) -> [Route] {
    guard !surroundings.isEmpty else { return [] }
    return SimulatedWorld(
      buses: surroundings.flatMap(\.buses),
      lanes: surroundings.reduce(into: [:]) { $0.merge($1.lanes) { first, _ in first } },
      routes: surroundings.flatMap(\.routes), named: surroundings.compactMap(\.named)
    ).routes
  }
}
