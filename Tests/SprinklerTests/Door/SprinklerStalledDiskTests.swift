import Dispatch
import ServiceSupport
import Sprinkler
import Synchronization
import Tactus
import TactusDaemon
import TestSupport
import Testing
import Water

@testable import Service
@testable import SprinklerDaemon

/// A request without a body that is under way while the test lets the time pass.
private struct UnderWay {
  private let text = Guarded<String?>(nil)
  /// The answer's body, or the error, as text; `nil` until there is one.
  var found: String? { text.value }

  init(_ path: String, of bench: SprinklerDoorBench) throws {
    let table = RouteTable(bench.door.routes)
    let place = try #require(table.place(path.split(separator: "/").map(String.init)), "\(path)")
    let route = try #require(place.routes.first { $0.method.rawValue == "POST" }, "\(path)")
    guard case .handler(let handler) = route.handling else { throw CancellationError() }
    let request = APIRequest(caller: .one, parameters: place.parameters)
    Task { [text] in
      do {
        text.value = String(decoding: try await handler(request).body, as: UTF8.self)
      } catch {
        text.value = "\(error)"
      }
    }
  }
}

@Suite("the sprinkler, and a disk that stalls", .ownThread)
struct SprinklerStalledDiskTests {
  @Test("an off closes its valve and is answered while the disk stalls; an on opens none before the disk has it")
  func offBeforeDisk() async throws {
    let bench = try SprinklerDoorBench()
    _ = try await bench.ask("POST", "/api/zone/1/on", #"{"minutes":12}"#)
    bench.run(seconds: 3)
    #expect(bench.isHigh(17))
    // The desk's thread would wait for the disk, too.
    bench.isDeskBusy = true
    let end = bench.desk.store.file.stall()
    // Also when the test ends early: twice does no harm.
    defer { end.signal() }
    func isAnswered(_ request: UnderWay) -> Bool {
      eventually {
        bench.run(for: 2)
        return request.found != nil
      }
    }
    let on = try UnderWay("/api/zone/2/on", of: bench)
    let off = try UnderWay("/api/zone/1/off", of: bench)
    #expect(isAnswered(off))
    #expect(off.found?.contains("the valve is closed; the store does not take it yet") == true, "\(off.found ?? "")")
    #expect(!bench.isHigh(17))
    #expect(!bench.isHigh(27) && on.found == nil, "its run is not on the disk")
    end.signal()
    #expect(isAnswered(on))
    #expect(bench.isHigh(27) && !bench.isHigh(17), "\(on.found ?? "")")
  }

  @Test("an emergency stop comes, and its reset, while a schedule's runs wait for the disk: they open nothing")
  func scheduleIsOvertaken() async throws {
    let bench = try SprinklerDoorBench()
    _ = try await bench.ask("POST", "/api/schedules", SprinklerDoorBench.mornings)
    bench.run(seconds: 118)
    try await stopAndReset(bench, in: .seconds(5))
    // The start is before the two requests, and its orders come after them.
    bench.run(seconds: 30)
    #expect(!bench.isHigh(17) && !bench.isHigh(27))
    #expect(bench.desk.view.records.pending.isEmpty)
    let log = try await bench.json("GET", "/api/log")
    #expect((log["runs"] as? [[String: Any]])?.map { $0["outcome"] as? String } == ["stopped", "stopped"])
  }

  @Test("an emergency stop comes, and its reset, while a plant's water waits for the disk: it opens nothing")
  func waterIsOvertaken() async throws {
    let bench = try SprinklerDoorBench()
    let water = bench.desk.water
    let plant = WaterRequest(zone: 1, seconds: 60, system: "plants", part: "plant-1")
    try await stopAndReset(bench, in: .seconds(5))
    await #expect { try await bench.finish { try await water.ask(plant) } } throws: { error in
      (error as? APIError)?.isOvertaken == true
    }
    bench.run(seconds: 6)
    #expect(!bench.isHigh(17))
    try await bench.finish { try await water.ask(plant) }
    #expect(bench.isHigh(17))
  }

  /// An emergency stop and its reset that reach the loop now, and are asked for in a while: what the desk decides until
  /// then is as if it had waited for the disk meanwhile.
  private func stopAndReset(_ bench: SprinklerDoorBench, in time: Nanoseconds) async throws {
    bench.isDeskBusy = true
    let instant = bench.now + time
    for word in ["e-stop", "reset"] { _ = try await bench.ask("POST", "/api/sprinkler/\(word)", arrived: instant) }
    bench.isDeskBusy = false
  }

  @Test("the loop refuses a schedule's runs: its answers are taken while the disk stalls, their ends kept afterwards")
  func refused() async throws {
    let bench = try SprinklerDoorBench()
    _ = try await bench.ask("POST", "/api/schedules", SprinklerDoorBench.mornings)
    _ = try await bench.ask("POST", "/api/sprinkler/e-stop")
    let stalls = Atomic(0)
    bench.take = { [desk = bench.desk] standIn, now in
      // Its orders are with the loop, which has answered.
      guard !desk.view.records.pending.isEmpty else { return standIn.takeAnswers(at: now) }
      let end = desk.store.file.stall()
      let taken = DispatchSemaphore(value: 0)
      let events = Mutex<[Event]>([])
      // Safe: this thread waits meanwhile.
      nonisolated(unsafe) let main = standIn
      DispatchQueue(label: "answers").async {
        events.withLock { $0 += main.takeAnswers(at: now) }
        taken.signal()
      }
      #expect(taken.wait(timeout: .now() + .milliseconds(Int(patience))) == .success)
      end.signal()
      stalls.add(1, ordering: .relaxed)
      return events.withLock { $0 }
    }
    bench.run(seconds: 130)
    #expect(stalls.load(ordering: .relaxed) > 0)
    #expect(bench.desk.view.records.pending.isEmpty)
    let log = try await bench.json("GET", "/api/log")
    #expect((log["runs"] as? [[String: Any]])?.map { $0["outcome"] as? String } == ["emergencyStop", "emergencyStop"])
  }
}
