import Plants
import PlantsDaemon
import Service
import Tactus
import TactusDaemon
import Water

/// What dies with the process: the probes' loop, the desk with the door, and what waits for the disk. Does what `DaemonPlants` does with its
/// threads: readings to the desk, then the desk's beat, then what people are told; clients' changes one after the other.
final class PlantSwarmDaemon {
  /// The name of the probes' loop.
  static let loop = "plants"
  private static let beatPeriod = Nanoseconds.milliseconds(100)

  let runtime: Runtime
  let simulation: Simulation
  let desk: PlantDesk
  let version: LatestVersion
  var nextBeat: TickInstant
  /// When the broker is told what has happened.
  var nextTold: TickInstant
  /// When the disk takes the next change of those that wait.
  private(set) var diskAt = TickInstant.distantFuture
  /// How long a change takes.
  var diskTime = Nanoseconds.milliseconds(5)
  private var readings: RingReader<PlantProbeReading>
  private let waiting: Guarded<[@Sendable () -> Void]>
  private let clock: Guarded<TickInstant>
  /// What subscribers have not been told yet.
  private var events: [Event] = []

  /// - Parameters:
  ///   - clock: what the desk takes for now; set by the part.
  ///   - wallAtZero: seconds since 1970 at the start of the history.
  init(
    _ garden: SimulatedGarden, _ parts: PlantDesk.Parts, _ store: SimulatedPlantStore, water: WaterSupply,
    clock: Guarded<TickInstant>, wallAtZero: Guarded<Int64>, stops: ExternalStops?, seed: UInt64, at now: TickInstant
  ) throws(RuntimeError) {
    let snapshot = Latest(PlantSensorSnapshot(probes: parts.sensors.count))
    let ring = Ring<PlantProbeReading>(capacity: 256)
    let waiting = Guarded<[@Sendable () -> Void]>([])
    (self.clock, self.waiting, nextBeat, nextTold) = (clock, waiting, now, now)
    readings = ring.reader()
    version = snapshot.version
    runtime = try Runtime(externalStops: stops) {
      Lane("plants") {
        Loop(Self.loop, every: .hertz(10), late: .skip, minimumInterval: .milliseconds(1)) {
          PlantSensorLoop(
            probes: parts.sensors.map(\.probe), settings: PlantSwarm.probes, bus: garden.bus!.port(),
            snapshot: snapshot.writer(), readings: ring.writer())
        }
      }
    }
    simulation = try runtime.simulation(seed: seed, from: now)
    desk = PlantDesk(
      parts, store: store, snapshot: snapshot, water: water, now: { clock.value },
      clock: WatchedWallClock(boot: nil) {
        let now = clock.value
        return WallWatch.Sample(
          microseconds: wallAtZero.value * 1_000_000 + now.nanoseconds / 1_000, bootTime: now, isSynchronised: true)
      },
      onDisk: { work in waiting.value += [work] })
  }

  /// What the loop has read since the last call, given to the desk.
  func takeReadings(_ body: (PlantProbeReading) -> Void) {
    while let reading = readings.pop() {
      body(reading)
      desk.take(reading)
    }
  }

  /// Ten times a second. Returns what dry plants ask for.
  func beat(at now: TickInstant) -> [PlantWateringRequest] {
    nextBeat = now + Self.beatPeriod
    defer { events += desk.takeEvents() }
    return desk.review(at: now)
  }

  /// What subscribers are told of, since the last call.
  func takeEvents() -> [Event] {
    defer { events = [] }
    return events + desk.takeEvents()
  }

  /// Something has come that may wait for the disk.
  func noteWaiting(at now: TickInstant) {
    if diskAt == .distantFuture, !waiting.value.isEmpty { diskAt = now + diskTime }
  }

  /// Whether a client's change waits for the disk.
  var isWaiting: Bool { !waiting.value.isEmpty }

  /// The disk takes the oldest change that waits.
  func takeFromDisk(at now: TickInstant) {
    diskAt = .distantFuture
    guard let work = waiting.value.first else { return }
    waiting.value.removeFirst()
    work()
    noteWaiting(at: now)
  }

  /// Every thread stands still.
  func freeze(until end: TickInstant) {
    nextBeat = max(nextBeat, end)
    if diskAt < end { diskAt = end }
  }
}
