import Plants
import PlantsDaemon
import Service
import Tactus
import TactusDaemon
import Water

/// The parts that end with the daemon's process: the probes' loop, the desk with the API, and the work that waits for the disk. Does the work of
/// `PlantDuty`: passes readings to the desk, runs the desk's beat, sends events, and carries out clients' changes one after the other.
final class PlantSwarmDaemon {
  /// The name of the probes' loop.
  static let loop = "plants"
  private static let beatPeriod = Nanoseconds.milliseconds(100)

  let runtime: Runtime
  let simulation: Simulation
  let desk: PlantDesk
  let version: LatestVersion
  /// The system with its topics on the broker, and the app's pair of topics.
  let onBroker: (system: any ServedSystem, participant: (any BrokerParticipant)?)
  var nextBeat: TickInstant
  /// The instant at which the next events are sent to the broker.
  var nextTold: TickInstant
  /// The instant at which the disk takes the next waiting change.
  private(set) var diskAt = TickInstant.distantFuture
  /// The time that the simulated disk takes for a change.
  var diskTime = Nanoseconds.milliseconds(5)
  private var readings: RingReader<PlantProbeReading>
  private let waiting: Guarded<[@Sendable () -> Void]>
  private let clock: Guarded<TickInstant>
  /// The events that have not been sent to subscribers yet.
  private var events: [Event] = []

  /// Creates the parts of one daemon, on a garden and a store that survive it.
  ///
  /// - Parameters:
  ///   - clock: the desk's present instant; set by the swarm's part.
  ///   - wallAtZero: seconds since 1970 at the start of the history.
  init(
    _ garden: SimulatedGarden, _ parts: PlantDesk.Parts, _ store: SimulatedPlantStore, water: WaterSupply,
    clock: Guarded<TickInstant>, wallAtZero: Guarded<Int64>, stops: ExternalStops?, seed: UInt64, at now: TickInstant
  ) throws(RuntimeError) {
    let standIn = try StandIn(Plants.self)
    let ring = Ring<PlantProbeReading>(capacity: 256)
    let waiting = Guarded<[@Sendable () -> Void]>([])
    (self.clock, self.waiting, nextBeat, nextTold) = (clock, waiting, now, now)
    readings = ring.reader()
    runtime = try Runtime(externalStops: stops) {
      Lane("plants") {
        Loop(Self.loop, every: .hertz(10), late: .skip, minimumInterval: .milliseconds(1)) {
          PlantLoop(
            standIn.ends(),
            PlantSensorLoop(
              probes: parts.sensors.map(\.probe), settings: PlantSwarm.probes, bus: garden.bus!.port(),
              readings: ring.writer()))
        }
      }
    }
    simulation = try runtime.simulation(seed: seed, from: now)
    let newest = standIn.newest
    desk = PlantDesk(
      parts, store: store, newest: { newest().state }, water: { water }, now: { clock.value },
      clock: WatchedWallClock(boot: nil) {
        let now = clock.value
        return WallWatch.Sample(
          microseconds: wallAtZero.value * 1_000_000 + now.nanoseconds / 1_000, bootTime: now, isSynchronised: true)
      },
      onDisk: { work in waiting.value += [work] })
    onBroker = standIn.serve(PlantDuty(desk, hostName: PlantHostSettings().hostName), sharing: desk)
    version = standIn.version
  }

  /// Passes the loop's readings since the last call to the desk and to `body`.
  func takeReadings(_ body: (PlantProbeReading) -> Void) {
    while let reading = readings.pop() {
      body(reading)
      desk.receive(reading)
    }
  }

  /// Runs the desk's beat. The function is to be called ten times a second. Returns the requests of dry plants.
  func beat(at now: TickInstant) -> [PlantWateringRequest] {
    nextBeat = now + Self.beatPeriod
    defer { events += desk.takeEvents() }
    return desk.review(at: now)
  }

  /// Returns the events for subscribers since the last call.
  func takeEvents() -> [Event] {
    defer { events = [] }
    return events + desk.takeEvents()
  }

  /// Schedules the disk after work that waits for it has arrived.
  func noteWaiting(at now: TickInstant) {
    if diskAt == .distantFuture, !waiting.value.isEmpty { diskAt = now + diskTime }
  }

  /// Whether a client's change waits for the disk.
  var isWaiting: Bool { !waiting.value.isEmpty }

  /// Carries out the oldest change that waits for the disk.
  func takeFromDisk(at now: TickInstant) {
    diskAt = .distantFuture
    guard let work = waiting.value.first else { return }
    waiting.value.removeFirst()
    work()
    noteWaiting(at: now)
  }

  /// Stops all threads until `end`.
  func freeze(until end: TickInstant) {
    nextBeat = max(nextBeat, end)
    if diskAt < end { diskAt = end }
  }
}
