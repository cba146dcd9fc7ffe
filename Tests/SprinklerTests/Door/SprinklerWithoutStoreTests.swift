import Foundation
import Sprinkler
import Store
import Testing
import WallTime

@testable import Service
@testable import SprinklerDaemon

@Suite("the sprinkler behind the door while its store could not be read")
struct SprinklerWithoutStoreTests {
  @Test(
    "every route: what opens, changes or shows schedules is 503 with the reason and the way out; the others answer",
    arguments: [false, true])
  func routes(hasLegacyRoutes: Bool) async throws {
    let bench = try SprinklerDoorBench(hasLegacyRoutes: hasLegacyRoutes, opensStore: false)
    bench.run(seconds: 1)
    for route in bench.door.routes {
      let name = "\(route.method.rawValue) \(route.path)"
      let path = route.path.replacing("{id}", with: "1").replacing("{n}", with: "1").replacing("{bcm}", with: "17")
        .replacing("{run}", with: "1")
      let refusal = await bench.refusal(route.method.rawValue, path)
      if name == "GET /api/sprinkler" || SprinklerRoutes.needNoStore.contains(name) {
        // Nothing to reset, say: refused for a reason of its own.
        #expect(refusal?.code != "STORE_FAILED", "\(name): \(String(describing: refusal))")
      } else {
        #expect(refusal?.status == .serviceUnavailable && refusal?.code == "STORE_FAILED", "\(name)")
        #expect(refusal?.message.contains("the store could not be read: ") == true, "\(name)")
        #expect(refusal?.message.contains("; to go on: ") == true, "\(name)")
      }
    }
    #expect(SprinklerDoorBench.pins.allSatisfy { bench.isHigh($0) == ($0 == 22) }, "pin 22 is inverted: all are off")
  }

  @Test("what closes is 200 and says that zones are not known; e-stop latches; the state says why")
  func closing() async throws {
    let bench = try SprinklerDoorBench(hasLegacyRoutes: true, opensStore: false)
    bench.run(seconds: 1)
    for path in ["/api/zone/2/off", "/zone/off/1", "/api/pin/17/off"] {
      let off = try await bench.json("POST", path)
      #expect(off["isOn"] as? Bool == false, "\(path)")
      #expect((off["warning"] as? String)?.hasPrefix("every valve is closed; zones are not known") == true, "\(off)")
    }
    #expect(await bench.refusal("POST", "/api/zone/65/off")?.code == "NOT_FOUND")
    #expect(try await bench.json("POST", "/api/stop")["warning"] is String)
    let state = try await bench.json("GET", "/api/sprinkler")
    let store = try #require(state["store"] as? [String: Any])
    #expect(store["open"] as? Bool == false && store["writable"] as? Bool == false && store["failure"] is String)
    _ = try await bench.ask("POST", "/api/sprinkler/e-stop")
    #expect(try await bench.json("GET", "/api/sprinkler")["state"] as? String == "emergencyStopped")
    // Plants are told the same as people.
    #expect(bench.desk.water.isStopped())
  }

  @Test("the store opens while it runs: schedules, totals and the rain delay are there as if it had just been started")
  func opensLater() async throws {
    let first = try SprinklerDoorBench()
    _ = try await first.ask("POST", "/api/schedules", SprinklerDoorBench.mornings)
    _ = try await first.ask("POST", "/api/zone/3/on", #"{"minutes":1}"#)
    first.run(seconds: 70)
    try first.desk.store.file.close()
    let bench = try SprinklerDoorBench(folder: first.folder, began: SprinklerDoorBench.start + 80, opensStore: false)
    bench.run(seconds: 30)
    #expect(await bench.refusal("POST", "/api/zone/1/on")?.code == "STORE_FAILED")
    #expect(bench.desk.view.records.zones.isEmpty)
    _ = try bench.desk.store.file.open(at: SprinklerDoorBench.start + 110)
    bench.run(seconds: 1)
    #expect(bench.desk.view.isLoaded && bench.desk.view.storeFailure == nil)
    #expect(bench.desk.view.records.programs.map(\.name) == ["Mornings"])
    #expect(abs(bench.desk.newest[ZoneID(3)!].ranToday.inSeconds - 60) < 1, "the day's total counts on")
    // 06:02 comes, and the clock is believed half a minute after a start: the schedule starts by itself.
    bench.run(seconds: 45)
    #expect(bench.isHigh(17))
    // Its folder is removed with it.
    withExtendedLifetime(first) {}
  }

  @Test("refused ten times a second for a minute: not a line in the log, which has the reason from who opens the store")
  func log() throws {
    let bench = try SprinklerDoorBench(opensStore: false)
    bench.run(seconds: 60)
    #expect(bench.log.lines.filter { "\($0)".contains("store") }.isEmpty)
  }
}
