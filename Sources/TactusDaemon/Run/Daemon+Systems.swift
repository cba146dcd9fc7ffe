import Service
import Tactus

/// What the daemon is composed of.
extension Daemon {
  /// `/api/runtime` and `/metrics`.
  static func measurements(of runtime: Runtime, _ sources: [any MetricSource]) -> [Route] {
    [
      .runtime(runtime, version: TactusCommand.version, now: { MonotonicClock.now }),
      .metrics([RuntimeMetrics(runtime, version: TactusCommand.version)] + sources + [ProcessMetrics()]),
    ]
  }

  /// What systems have besides their doors: their simulated world, their declarations, their settings.
  static func routes(of systems: [any DaemonSystem], reloader: Reloader) -> [Route] {
    routes(of: systems.compactMap { ($0 as? any LoopSystem)?.simulation }) + [
      declarations(of: systems), reloader.route,
    ]
      + systems.compactMap { ($0 as? any DeclaredSystem)?.settingsRoute(reloader) }
  }

  /// `/api/sim/…` of whatever is simulated; nothing on real hardware alone.
  static func routes(of surroundings: [SimulatedSurroundings]) -> [Route] {
    guard !surroundings.isEmpty else { return [] }
    return SimulatedWorld(
      buses: surroundings.flatMap(\.buses),
      lanes: surroundings.reduce(into: [:]) { $0.merge($1.lanes) { first, _ in first } },
      routes: surroundings.flatMap(\.routes), named: surroundings.compactMap(\.named)
    ).routes
  }
}
