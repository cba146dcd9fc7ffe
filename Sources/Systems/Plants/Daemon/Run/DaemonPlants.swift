import Buses
import BusesLinux
import Logging
import Plants
import Service
import Store
import Tactus
import TactusDaemon
import Water

/// The plants in the daemon: their probes' lane, what is kept of them, and the host of the app.
final class DaemonPlants: LoopSystem {
  let name = "plants"
  static let loop = "plants"
  let loopName = DaemonPlants.loop
  let simulation: SimulatedSurroundings?
  private let configuration: Configuration.Plants
  /// The file that the desk's rules are of: the last one that was reloaded.
  private let newest: Guarded<Configuration.Plants>
  private let hardware: PlantHardware
  private let desk: PlantDesk
  private let door: PlantDoor
  /// What is watered in a simulated world, or `nil` if there is none.
  private let water: WaterSupply?
  private let snapshot: Latest<PlantSensorSnapshot>
  private let readingRing = Ring<PlantProbeReading>(capacity: 256)
  private var readings: RingReader<PlantProbeReading>
  private let deskThread = DeskThread("plants")
  private let logger: Logger

  /// Reads what the store has and opens the probes' buses.
  ///
  /// - Parameter water: what waters plants, or `nil` if there is no sprinkler.
  /// - Throws: `BusOpenError`.
  init(
    _ plants: Configuration.Plants, store file: StoreFile, water: WaterSupply?, simulate: Bool, clock: WatchedWallClock,
    logger: Logger
  ) throws {
    configuration = plants
    newest = Guarded(plants)
    self.logger = logger
    hardware = try PlantHardware(plants, simulate: simulate)
    snapshot = Latest(PlantSensorSnapshot(probes: plants.sensors.count))
    readings = readingRing.reader()
    self.water = water
    desk = PlantDesk(
      plants.deskParts, store: PlantStore(file), snapshot: snapshot, water: plants.links.isEmpty ? nil : water,
      clock: clock)
    door = PlantDoor(desk, hostName: plants.app?.hostName)
    simulation = hardware.garden.map { garden in
      SimulatedSurroundings(
        buses: [
          garden.bus.map { SimulatedBus("plants-i2c", .i2c($0)) },
          garden.port.map { SimulatedBus("plants-spi", .spi($0)) },
        ].compactMap(\.self), lanes: [:], routes: garden.routes)
    }
  }

  var endpoints: [Endpoint] { [] }
  var startMetadata: Logger.Metadata {
    ["plants": .string("\(desk.view.records.plants.count) plants, \(configuration.summary)")]
  }
  var heartbeat: LatestVersion { snapshot.version }
  /// The loop looks for what is due so often; reads are released by their own instants.
  private static let rate = Rate.hertz(10)

  func lane(bell: DoorbellButton) -> Lane {
    Self.lane(configuration, hardware, snapshot: snapshot, readings: readingRing, bell: bell)
  }

  /// The probes' lane, in real time and in simulated.
  static func lane(
    _ plants: Configuration.Plants, _ hardware: PlantHardware, snapshot: Latest<PlantSensorSnapshot>,
    readings: Ring<PlantProbeReading>, bell: DoorbellButton?
  ) -> Lane {
    // Nothing here moves: no priority is asked for that an actuator's lane might need.
    Lane("plants") {
      Loop(loop, every: rate, late: .skip, minimumInterval: .milliseconds(1)) {
        PlantSensorLoop(
          probes: plants.sensors.map(\.probe), settings: plants.probeSettings, bus: hardware.bus(),
          port: hardware.port(), snapshot: snapshot.writer(), readings: readings.writer(), bell: bell)
      }
    }
  }

  /// What links may ask the sprinkler for, and what the app's clients may send: at the desk, at once.
  func change(to new: Configuration) -> (any RulesChange)? {
    guard let new = new.plants else { return nil }
    let keys = KeyChange.between(newest.value.everyReloadable, new.everyReloadable)
    guard !keys.isEmpty else { return nil }
    return DeskChange(of: name, keys) { [newest, desk, deskThread] done in
      newest.value = new
      deskThread.run {
        let parts = new.deskParts
        desk.take(parts.host, parts.links)
        done()
        return []
      }
    }
  }

  func started() {}
  var heldLines: [LinuxGPIOLines] { [] }
  var heartbeatPeriod: Nanoseconds { .zero }
  var served: any ServedSystem { door }
  var metrics: any MetricSource { PlantMetrics(door) }

  var brokerParticipants: [any BrokerParticipant] {
    configuration.app == nil ? [] : [PlantAppParticipant(desk)]
  }

  func takeAnswers(at now: TickInstant) {}

  func takeNotices(_ logger: Logger) -> [Event] {
    // While the desk waits for a disk, readings wait in the ring, which drops what is too many.
    if deskThread.isIdle { giveReadings(logger) }
    return deskThread.takeEvents()
  }

  private func giveReadings(_ logger: Logger) {
    var taken: [PlantProbeReading] = []
    while let reading = readings.pop() {
      log(reading, logger)
      taken.append(reading)
    }
    if taken.isEmpty { return }
    let all = taken
    deskThread.run { [desk, tell] in
      for reading in all { desk.take(reading) }
      return tell()
    }
  }

  /// Logs what has happened to plants; what subscribers are told of it.
  private var tell: @Sendable () -> [Event] {
    { [desk, door, logger] in
      desk.takeNews().compactMap { news in
        news.log(logger)
        return door.edge(news)
      }
    }
  }

  func beat(at now: TickInstant) {
    if let garden = hardware.garden {
      rain(on: garden)
      garden.beat(at: now)
    }
    deskThread.beat { [desk, tell] in
      desk.beat(at: MonotonicClock.now)
      return tell()
    }
  }

  /// What a sprinkler pours on a plant that is linked to its zone, in ten percentage points a minute.
  private func rain(on garden: SimulatedGarden) {
    guard let water else { return }
    for (plant, link) in configuration.links where water.isOpen(link.zone) {
      for sensor in desk.view.records.plants.first(where: { $0.id == plant })?.sensors ?? [] {
        garden[sensor]?.pour(10.0 / 600)
      }
    }
  }

  func report(_ logger: Logger) {}

  func finish(_ logger: Logger) {}

  func finishKeeping() -> KeptOutcome {
    // Readings are given to a desk that is idle.
    deskThread.finish {}
    giveReadings(logger)
    deskThread.finish { desk.finish() }
    return .known
  }

  /// There is no actuator.
  var unconfirmed: (message: String, state: String)? { nil }

  private func log(_ reading: PlantProbeReading, _ logger: Logger) {
    guard case .failed(let failure) = reading.result else { return }
    // An alert tells people; this tells who looks for the cause.
    logger.debug(
      "a probe could not be read",
      metadata: [
        "system": "plants", "sensor": .string(configuration.sensors[reading.probe].name),
        "failure": .string("\(failure)"),
      ])
  }
}
