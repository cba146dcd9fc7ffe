import Foundation
import Plants
import Tactus
import TestSupport
import Testing
import Water

@testable import PlantsDaemon
@testable import Service
@testable import Store

@Suite("dry plants and the sprinkler", .ownThread) struct PlantWaterTests {
  private static func link() throws -> [PlantID: PlantWateringSettings] {
    [PlantID(1): try PlantWateringSettings(zone: 2, seconds: 60, maximumPerDay: 2, minimumGapSeconds: 3_600)]
  }

  /// - Parameter isConfirmed: somebody has said that the new plant may be watered.
  private func bench(_ folder: URL? = nil, isConfirmed: Bool = true) async throws -> PlantDoorBench {
    let bench = try PlantDoorBench(folder: folder, links: try Self.link())
    guard folder == nil else { return bench }
    _ = try await bench.ask("POST", "/api/plants", #"{"name":"Basil","sensors":["0x36"]}"#)
    if isConfirmed { _ = try await bench.ask("POST", "/api/plants/1/confirm-watering") }
    _ = bench.desk.takeNews()
    return bench
  }

  private func watering(_ bench: PlantDoorBench) async throws -> [String: Any] {
    try #require(try await bench.plant("GET", "/api/plants/1")["watering"] as? [String: Any])
  }

  @Test(
    "a new plant that reads dry from the start: nothing is asked until somebody confirms; what it waits for is told once"
  )
  func newPlant() async throws {
    let bench = try await bench(isConfirmed: false)
    bench.run(seconds: 600, moisture: 0)
    #expect(bench.sprinkler.asked.isEmpty)
    let waiting = try await watering(bench)
    #expect(waiting["needsConfirmation"] as? Bool == true)
    #expect((waiting["waitsFor"] as? String)?.contains("POST /api/plants/1/confirm-watering") == true)
    #expect(bench.edges().filter { $0 == "plant.waits" }.count == 1)
    let events = try await bench.json("GET", "/api/plants/alerts")["events"] as? [[String: Any]]
    #expect(events?.filter { $0["kind"] as? String == "refused" }.count == 1)
    // A restart knows no better.
    let again = try await self.bench(try bench.handOver())
    again.clock.seconds.store(1_000, ordering: .releasing)
    again.run(seconds: 60, moisture: 0)
    #expect(again.sprinkler.asked.isEmpty)
    _ = try await again.ask("POST", "/api/plants/1/confirm-watering")
    again.run(seconds: 10, moisture: 0)
    #expect(asked(again, 1))
    let confirmed = try await watering(again)
    #expect(confirmed["needsConfirmation"] as? Bool == false && confirmed["waitsFor"] is NSNull)
  }

  @Test("a new plant that was seen not dry once: it asks when it is dry, whoever says nothing")
  func seenWet() async throws {
    let bench = try await bench(isConfirmed: false)
    bench.run(seconds: 60, moisture: 50)
    bench.run(seconds: 600, moisture: 10)
    #expect(asked(bench, 1))
  }

  @Test(
    "calibrated so that it reads dry, in whatever soil: the zone stays closed until somebody confirms, or it reads more"
  )
  func calibrated() async throws {
    let bench = try await bench(isConfirmed: false)
    bench.run(seconds: 60, moisture: 50)
    let path = "/api/plants/sensors/0x36/calibrate"
    _ = try await bench.ask("POST", path, #"{"point":"dry"}"#)
    #expect(
      try await bench.plant("GET", "/api/plants/1")["moisturePercent"] as? Double == 0, "at once, by the new points")
    bench.run(seconds: 600, moisture: 50)
    #expect(bench.sprinkler.asked.isEmpty)
    #expect(try await watering(bench)["needsConfirmation"] as? Bool == true)
    // The calibration before it has been proved, but nobody remembers: it is proved again.
    _ = try await bench.ask("DELETE", path)
    bench.run(seconds: 20, moisture: 50)
    bench.run(seconds: 60, moisture: 10)
    #expect(asked(bench, 1))
  }

  @Test(
    "kept by an earlier version: a plant whose link has asked before is trusted, a calibration that noise made is not used"
  )
  func earlierVersion() async throws {
    let first = try await bench()
    first.run(seconds: 60, moisture: 10)
    #expect(asked(first, 1))
    let (id, folder) = (first.desk.view.records.plants[0].id, try first.handOver())
    do {
      let file = StoreFile(
        folder.appending(path: "store.sqlite").path(percentEncoded: false), systems: [.sprinkler, .plants, .pump],
        mounts: MountWatch(named: "/"))
      _ = try file.open(at: .now)
      var plant = try PlantStore(file).records().plants[0]
      plant.proof = nil
      try PlantStore(file).apply([
        .plant(plant), .calibration(PlantSensorID("adc-0")!, try PlantCalibration(dry: 2_157.6, wet: 2_158.75)),
      ])
      try file.close()
    }
    let again = try await bench(folder)
    #expect(again.desk.view.records.plants.first { $0.id == id }?.proof?.count == 1)
    #expect(again.desk.takeNews().contains { if case .uselessCalibration = $0 { true } else { false } })
    again.run(seconds: 20, moisture: 10, converter: 50)
    let sensors = try #require(try await again.json("GET", "/api/plants/sensors")["sensors"] as? [[String: Any]])
    #expect(sensors[1]["moisturePercent"] as? Double == 50)
    #expect((sensors[1]["calibration"] as? [String: Any])?["isSet"] as? Bool == false)
  }

  /// Waits for the task that asks.
  private func asked(_ bench: PlantDoorBench, _ count: Int) -> Bool {
    eventually { bench.sprinkler.asked.count == count }
  }

  @Test("dry: the zone is asked once a gap, so often a day; the plant and the log say so")
  func dry() async throws {
    let bench = try await bench()
    bench.run(seconds: 600, moisture: 10)
    #expect(asked(bench, 1))
    #expect(bench.sprinkler.asked == [WaterRequest(zone: 2, seconds: 60, system: "plants", part: "plant-1")])
    let watering = try #require(try await bench.plant("GET", "/api/plants/1")["watering"] as? [String: Any])
    #expect(watering["zone"] as? Int == 2 && watering["askedThatDay"] as? Int == 1 && watering["askedISO"] is String)
    bench.run(seconds: 4 * 3_600, moisture: 10)
    #expect(asked(bench, 2))
    let events = try await bench.json("GET", "/api/plants/alerts")["events"] as? [[String: Any]]
    #expect(
      events?.filter { $0["kind"] as? String == "asked" }.map { $0["detail"] as? String } == [
        "zone 2, 60 s", "zone 2, 60 s",
      ])
  }

  @Test("a link's limits of a reloaded file: the next request has them, and /api/plants shows them at once")
  func reloaded() async throws {
    let bench = try await bench()
    let version = bench.door.version
    bench.desk.apply(
      PlantHostSettings(), [PlantID(1): try PlantWateringSettings(zone: 2, seconds: 20, maximumPerDay: 1)])
    #expect(bench.door.version > version)
    let watering = try #require(try await bench.plant("GET", "/api/plants/1")["watering"] as? [String: Any])
    #expect(watering["seconds"] as? Int == 20)
    bench.run(seconds: 600, moisture: 10)
    #expect(asked(bench, 1) && bench.sprinkler.asked.first?.seconds == 20)
  }

  @Test("not dry, silent, rain delay, sprinkler stopped, no link: nothing is asked")
  func nothing() async throws {
    let bench = try await bench()
    bench.run(seconds: 60, moisture: 50)
    bench.sprinkler.state.withLock { $0.isRainDelayed = true }
    bench.run(seconds: 60, moisture: 10)
    bench.sprinkler.state.withLock { ($0.isRainDelayed, $0.isStopped) = (false, true) }
    bench.run(seconds: 60, moisture: 10)
    // The last reading is too old now.
    bench.run(seconds: 130)
    bench.sprinkler.state.withLock { $0.isStopped = false }
    bench.run(seconds: 60)
    #expect(bench.sprinkler.asked.isEmpty && bench.desk.view.records.waterings.isEmpty)
    let unlinked = try PlantDoorBench()
    _ = try await unlinked.ask("POST", "/api/plants", #"{"name":"Basil","sensors":["0x36"]}"#)
    unlinked.run(seconds: 600, moisture: 1)
    #expect(unlinked.sprinkler.asked.isEmpty)
  }

  @Test("killed right after a request: the gap and the day's number are kept")
  func restart() async throws {
    let bench = try await bench()
    bench.run(seconds: 60, moisture: 10)
    #expect(asked(bench, 1))
    let again = try await self.bench(try bench.handOver())
    again.clock.seconds.store(200, ordering: .releasing)
    again.run(seconds: 3_000, moisture: 10)
    #expect(again.sprinkler.asked.isEmpty)
    again.run(seconds: 600, moisture: 10)
    #expect(asked(again, 1))
    again.run(seconds: 7_200, moisture: 10)
    #expect(again.desk.view.records.waterings[PlantID(1)]?.count == 2 && again.sprinkler.asked.count == 1)
  }

  @Test("the sprinkler refuses: it is told, and counts as asked")
  func refused() async throws {
    let bench = try await bench()
    bench.sprinkler.state.withLock { $0.refusal = "zone 2 is disabled" }
    bench.run(seconds: 60, moisture: 10)
    #expect(asked(bench, 1))
    var types: [String] = []
    #expect(
      eventually {
        types += bench.edges()
        return types.contains("plant.refused")
      }, "\(types)")
    bench.run(seconds: 600, moisture: 10)
    let events = try await bench.json("GET", "/api/plants/alerts")["events"] as? [[String: Any]]
    #expect(events?.contains { $0["detail"] as? String == "zone 2: zone 2 is disabled" } == true)
    #expect(bench.sprinkler.asked.count == 1)
  }

  @Test("the store refuses to note a request: nothing is asked until it does")
  func notNoted() async throws {
    let bench = try await bench()
    try bench.sql("ALTER TABLE plants_watering RENAME TO elsewhere")
    bench.run(seconds: 60, moisture: 10)
    #expect(bench.sprinkler.asked.isEmpty)
    try bench.sql("ALTER TABLE elsewhere RENAME TO plants_watering")
    bench.run(seconds: 20, moisture: 10)
    #expect(asked(bench, 1))
  }
}
