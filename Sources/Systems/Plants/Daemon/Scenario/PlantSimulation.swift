import Buses
@_spi(FromOutside) import Conversions
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

/// Plants in simulated time: the production sensor loop on simulated buses, the desk of `tactus run` with a temporary store, and the app's messages
/// as the broker's thread delivers them. Needs neither a broker nor a sprinkler.
///
/// Use it on one thread only. The same seed and the same calls give the same run.
final class PlantSimulation {
  static let loop = "plants"
  /// The wall-clock time at the start, 2026-06-01 06:00 UTC.
  private static let start = Int64(1_780_293_600)
  /// The period of the desk's work in the daemon.
  private static let beat = Nanoseconds.milliseconds(100)

  let garden: SimulatedGarden
  let desk: PlantDesk
  let water = SimulatedWater()
  private let runtime: Runtime
  private let simulation: Simulation
  private var snapshot: LatestReader<PlantSensorSnapshot>
  private var readings: RingReader<PlantProbeReading>
  private let clock = Guarded(TickInstant.zero)
  private let folder: URL

  /// Creates the simulation of a setup.
  ///
  /// - Throws: `StoreError` or `RuntimeError` if a temporary store cannot be made, or because of a programming error.
  init(_ setup: PlantScenario.Setup, seed: UInt64) throws {
    let wiring = setup.wiring
    let parts = Plants.deskParts(wiring, setup.rules)
    let garden = SimulatedGarden(parts.sensors, clock: .monotonic)
    self.garden = garden
    let snapshot = Latest(PlantSensorSnapshot(probes: wiring.sensors.count))
    let ring = Ring<PlantProbeReading>(capacity: 256)
    self.snapshot = snapshot.reader()
    readings = ring.reader()
    folder = FileManager.default.temporaryDirectory.appending(path: "tactus-sim-\(UUID().uuidString)")
    let store = try StoreFile.open(
      folder.appending(path: "store.sqlite").path(percentEncoded: false), systems: [.plants],
      at: WallInstant(secondsSince1970: Self.start))
    desk = PlantDesk(
      parts, store: PlantStore(store.file), newest: { snapshot.newest },
      water: { [water] in parts.links.isEmpty ? nil : water.asPlantsSeeIt }, now: { [clock] in clock.value },
      clock: WatchedWallClock(boot: nil) { [clock] in
        let now = clock.value
        return WallWatch.Sample(
          microseconds: Self.start * 1_000_000 + now.nanoseconds / 1_000, bootTime: now, isSynchronised: true)
      })
    runtime = try Runtime {
      Lane("plants") {
        Loop(Self.loop, every: Plants.rate) {
          PlantSensorLoop(
            probes: parts.sensors.map(\.probe), settings: wiring.probeSettings, bus: garden.bus?.port(),
            port: garden.port?.port(), air: garden.air?.reader(), snapshot: snapshot.writer(), readings: ring.writer())
        }
      }
    }
    simulation = try runtime.simulation(seed: seed)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  var now: TickInstant { simulation.now }
  var traceHash: UInt64 { simulation.traceHash }

  /// The number of failed readings of all probes.
  var failures: Int64 {
    let newest = snapshot.read()
    return (0..<newest.count).reduce(0) { $0 + newest[$1].failures }
  }

  /// Runs the simulation, one beat of the daemon at a time, and returns the news reported meanwhile.
  func run(to instant: TickInstant) -> [(at: TickInstant, news: PlantNews)] {
    var told = takeNews()
    while now < instant {
      simulation.run(for: min(Self.beat, instant - now))
      clock.value = now
      while let reading = readings.pop() { desk.receive(reading) }
      desk.rain(on: garden) { water.isOpen($0, at: now) }
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
    desk.receive(message) { made in
      replies.value = made
      answered.signal()
    }
    answered.wait()
    return replies.value
  }

  /// Makes the loop's next tick take `by` longer.
  func stall(by span: Nanoseconds) { simulation.stall(loop: Self.loop, at: now, by: span) }

  /// Ends the loop and stores the open rows of the history.
  func stop() {
    simulation.stop()
    desk.finish()
  }

  /// Returns the news. A request to the sprinkler is made on another thread; the method waits until the request has arrived.
  private func takeNews() -> [(at: TickInstant, news: PlantNews)] {
    desk.takeNews().map { news in
      if case .asked = news { water.waitForRequest(at: now) }
      return (now, news)
    }
  }
}
