import Dispatch
import Sprinkler
import Synchronization
import TactusDaemon
import TestSupport
import Testing

@testable import Service
@testable import SprinklerDaemon

@Suite("the sprinkler, and a disk that stalls", .ownThread)
struct SprinklerStalledDiskTests {
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
