import Dispatch
import ServiceSupport
import Sprinkler
import Synchronization
import TactusDaemon
import TestSupport
import Testing

@testable import Service
@testable import SprinklerDaemon
@testable import Store

@Suite("A disk that stalls", .ownThread)
struct StalledDiskTests {
  /// Nothing is written from now on until the semaphore is signalled.
  private func stall(_ file: StoreFile) -> DispatchSemaphore {
    let (begun, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    DispatchQueue(label: "stalled disk").async {
      try? file.pool.write { _ in
        begun.signal()
        end.wait()
      }
    }
    begun.wait()
    return end
  }

  @Test("clients wait for the disk, more than there are threads: an e-stop and a look do not; then all are answered")
  func others() throws {
    let (plants, sprinkler, robot) = (try PlantDoorBench(), try SprinklerDoorBench(), FakeSystem("robot"))
    let service = try RunningService(systems: [robot], routes: plants.door.routes + sprinkler.door.routes)
    #expect(
      try service.request("POST", "/api/plants", body: #"{"name":"Basil","sensors":["0x36"]}"#).status == 201)
    let stalled = [stall(plants.file), stall(sprinkler.desk.store.file)]
    // Also when a client below gives up: twice does no harm.
    defer { for end in stalled { end.signal() } }
    let requests: [(method: String, path: String, body: String)] = [
      ("POST", "/api/plants/1/watered", "{}"), ("GET", "/api/plants/1/history", ""), ("GET", "/api/plants/alerts", ""),
      ("PUT", "/api/seasonal", #"{"percent":80}"#), ("GET", "/api/schedules/preview", ""),
    ]
    let clients = try requests.flatMap { request in
      try (0..<8).map { _ in
        let client = try TestClient(port: service.port)
        client.send(
          "\(request.method) \(request.path) HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: \(request.body.utf8.count)\r\n\r\n"
            + request.body)
        return client
      }
    }
    // While they wait; without threads of their own nobody would ever be answered here.
    for _ in 0..<3 { #expect(try service.request("POST", "/api/e-stop").status == 200) }
    #expect(robot.asked.stops == 3)
    #expect(try service.request("GET", "/api/plants").status == 200)
    for end in stalled { end.signal() }
    for client in clients { #expect(try client.reply().status == 200) }
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
      let end = stall(desk.store.file)
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
