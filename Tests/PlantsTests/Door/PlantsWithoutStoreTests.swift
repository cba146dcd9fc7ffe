import Foundation
import Plants
import Store
import TestSupport
import Testing

@testable import PlantsDaemon
@testable import Service

@Suite("plants behind the door while their store could not be read")
struct PlantsWithoutStoreTests {
  @Test("every route but the state and the probes: 503 with the reason and the way out")
  func routes() async throws {
    let bench = try PlantDoorBench(opensStore: false)
    for route in bench.door.routes {
      let name = "\(route.method.rawValue) \(route.path)"
      let path = route.path.replacing("{id}", with: "1").replacing("{sensor}", with: "0x36")
      let refusal = await bench.refusal(route.method.rawValue, path)
      if PlantRoutes.needNoStore.contains(name) {
        #expect(refusal == nil, "\(name)")
      } else {
        #expect(refusal?.status == .serviceUnavailable && refusal?.code == "STORE_FAILED", "\(name)")
        #expect(refusal?.message.contains("; to go on: ") == true, "\(name)")
      }
    }
    let store = try #require(try await bench.json("GET", "/api/plants")["store"] as? [String: Any])
    #expect(store["open"] as? Bool == false && store["writable"] as? Bool == false)
  }

  @Test("the app is refused, not told of no plants; a dry plant asks for nothing until the store is open")
  func opensLater() async throws {
    let first = try PlantDoorBench()
    _ = try await first.ask("POST", "/api/plants", #"{"name":"Basil","sensors":["0x36"]}"#)
    let id = try #require(first.desk.view.records.plants.first?.id)
    _ = try await first.ask("POST", "/api/plants/\(id)/confirm-watering")
    let folder = try first.handOver()
    let links = [id: try PlantWateringSettings(zone: 2, seconds: 30)]
    let bench = try PlantDoorBench(folder: folder, links: links, opensStore: false)
    bench.run(seconds: 60, moisture: 5)
    #expect(bench.app("REQ_numPlants", "").allSatisfy { $0.hasPrefix("ERR_") })
    #expect(bench.sprinkler.asked.isEmpty)
    #expect(bench.desk.takeNews().isEmpty, "nobody is told twice")
    _ = try bench.file.open(at: .now)
    bench.run(seconds: 2)
    #expect(bench.desk.view.isLoaded && bench.desk.view.records.plants.map(\.name.text) == ["Basil"])
    bench.run(seconds: 7_200, moisture: 5)
    #expect(eventually { !bench.sprinkler.asked.isEmpty })
  }
}
