import Buses
import Dispatch
import Foundation
import Plants
import Service
import Store
import Synchronization
import Tactus
import TactusDaemon
import WallTime
import Wire

/// Plants in simulated time: the production sensor loop on simulated buses, the desk that `tactus run` has, with a store of its
/// own, and the app's messages as the broker's thread delivers them. Nothing of it needs a broker or a sprinkler.
///
/// For one thread. The same seed and the same calls give the same run.
final class PlantSimulation {
  static let loop = DaemonPlants.loop
  /// 2026-06-01 06:00 UTC.
  private static let start = Int64(1_780_293_600)
  /// As often as the daemon's main thread looks.
  private static let beat = Nanoseconds.milliseconds(100)
  /// What an open zone pours on each of its plants' probes in a beat: ten percentage points a minute.
  private static let pouredPerBeat = 10.0 / 600

  let garden: Plants.SimulatedGarden
  let desk: PlantDesk
  let water = SimulatedWater()
  private let plants: Configuration.Plants
  private let hardware: PlantHardware
  private let runtime: Runtime
  private let simulation: Simulation
  private var snapshot: LatestReader<PlantSensorSnapshot>
  private var readings: RingReader<PlantProbeReading>
  private let clock = Guarded(TickInstant.zero)
  private let folder: URL

  /// - Throws: `StoreError`, `RuntimeError`: what keeps a temporary store from being made, and our bugs.
  init(_ plants: Configuration.Plants, seed: UInt64) throws {
    self.plants = plants
    hardware = try PlantHardware(plants, simulate: true)
    guard let garden = hardware.garden else { preconditionFailure("simulated hardware has a garden") }
    self.garden = garden
    let snapshot = Latest(PlantSensorSnapshot(probes: plants.sensors.count))
    let ring = Ring<PlantProbeReading>(capacity: 256)
    self.snapshot = snapshot.reader()
    readings = ring.reader()
    folder = FileManager.default.temporaryDirectory.appending(path: "tactus-sim-\(UUID().uuidString)")
    let store = try StoreFile.open(
      folder.appending(path: "store.sqlite").path(percentEncoded: false), systems: [.plants],
      at: WallInstant(secondsSince1970: Self.start))
    desk = PlantDesk(
      plants.deskParts, store: PlantStore(store.file), snapshot: snapshot,
      water: plants.links.isEmpty ? nil : water.asPlantsSeeIt, now: { [clock] in clock.value },
      clock: WatchedWallClock(boot: nil) { [clock] in
        let now = clock.value
        return WallWatch.Sample(
          microseconds: Self.start * 1_000_000 + now.nanoseconds / 1_000, bootTime: now, isSynchronised: true)
      })
    runtime = try Runtime { [hardware] in
      DaemonPlants.lane(plants, hardware, snapshot: snapshot, readings: ring, bell: nil)
    }
    simulation = try runtime.simulation(seed: seed)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  var now: TickInstant { simulation.now }
  var traceHash: UInt64 { simulation.traceHash }

  /// Readings that failed, of all probes.
  var failures: Int64 {
    let newest = snapshot.read()
    return (0..<newest.count).reduce(0) { $0 + newest[$1].failures }
  }

  /// Lets time pass, a beat of the daemon at a time, and returns what people were told.
  func run(to instant: TickInstant) -> [(at: TickInstant, news: PlantNews)] {
    var told = takeNews()
    while now < instant {
      simulation.run(for: min(Self.beat, instant - now))
      clock.value = now
      while let reading = readings.pop() { desk.take(reading) }
      rain()
      garden.beat(at: now)
      desk.beat(at: now)
      told += takeNews()
    }
    return told
  }

  /// Delivers a message and returns the replies to it.
  func deliver(_ message: [UInt8]) -> [PlantMessage] {
    let answered = DispatchSemaphore(value: 0)
    let replies = Guarded<[PlantMessage]>([])
    // A message that changes something is answered on another thread, when the change is on the disk.
    desk.take(message) { made in
      replies.value = made
      answered.signal()
    }
    answered.wait()
    return replies.value
  }

  /// Makes the loop's next tick take `by` longer.
  func stall(by span: Nanoseconds) { simulation.stall(loop: Self.loop, at: now, by: span) }

  /// Ends the loop; what was gathered is in the store.
  func stop() {
    simulation.stop()
    desk.finish()
  }

  /// A request to the sprinkler is made on another thread: it is there when this returns.
  private func takeNews() -> [(at: TickInstant, news: PlantNews)] {
    desk.takeNews().map { news in
      if case .asked = news { water.waitForRequest(at: now) }
      return (now, news)
    }
  }

  private func rain() {
    for (plant, link) in plants.links where water.isOpen(link.zone, at: now) {
      for sensor in desk.view.records.plants.first(where: { $0.id == plant })?.sensors ?? [] {
        garden[sensor]?.pour(Self.pouredPerBeat)
      }
    }
  }
}
