import Logging
import Service
import Store
import Tactus

/// What the daemon is composed of.
extension Daemon {
  /// - Parameter store: there if a system keeps something: see `Configuration.keepers`.
  static func systems(
    of configuration: Configuration, store: DaemonStore?, simulate: Bool, bell: DoorbellButton, logger: Logger
  ) throws -> [any DaemonSystem] {
    var systems: [any DaemonSystem] = []
    if let motors = configuration.motors {
      systems.append(try DaemonRobot(configuration, motors: motors, simulate: simulate))
    }
    if let legs = configuration.legs {
      systems.append(try DaemonLegs(configuration, legs: legs, simulate: simulate, logger: logger))
    }
    var water: PlantWater?
    if let sprinkler = configuration.sprinkler, let store {
      let system = try DaemonSprinkler(sprinkler, store: store.file, simulate: simulate, logger: logger)
      water = system.water
      systems.append(system)
    }
    if let pump = configuration.pump, let store {
      let limit = PumpLimitKeeper(PumpStore(store.file), logger: logger)
      let history = PumpHistory(
        PumpStore(store.file), keepsDays: pump.logDays, lastEnd: { () throws(StoreError) in try limit.lastEnd },
        logger: logger)
      systems.append(
        pump.role == .device
          ? try DaemonPumpDevice(
            pump, history: history, limit: limit, guardTimeoutSeconds: configuration.guardTimeoutSeconds,
            simulate: simulate, logger: logger)
          : try DaemonPump(pump, history: history, limit: limit, simulate: simulate, logger: logger))
    }
    if let plants = configuration.plants, let store {
      systems.append(try DaemonPlants(plants, store: store.file, water: water, simulate: simulate, logger: logger))
    }
    return systems + (try configuration.declared.all.map { try $0.open(simulate: simulate, bell: bell) })
  }

  /// `/api/runtime` and `/metrics`.
  static func measurements(of runtime: Runtime, _ sources: [any MetricSource]) -> [Route] {
    [
      .runtime(runtime, version: TactusCommand.version, now: { MonotonicClock.now }),
      .metrics([RuntimeMetrics(runtime, version: TactusCommand.version)] + sources + [ProcessMetrics()]),
    ]
  }

  /// `/api/sim/…` of whatever is simulated; nothing on real hardware alone.
  static func routes(of surroundings: [SimulatedSurroundings]) -> [Route] {
    guard !surroundings.isEmpty else { return [] }
    return SimulatedWorld(
      buses: surroundings.flatMap(\.buses),
      lanes: surroundings.reduce(into: [:]) { $0.merge($1.lanes) { first, _ in first } },
      robot: surroundings.lazy.compactMap(\.robot).first, legs: surroundings.lazy.compactMap(\.legs).first,
      pump: surroundings.lazy.compactMap(\.pump).first, garden: surroundings.lazy.compactMap(\.garden).first,
      named: surroundings.compactMap(\.named)
    ).routes
  }
}
