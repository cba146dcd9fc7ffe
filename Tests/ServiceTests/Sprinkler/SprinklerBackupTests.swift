import Foundation
import Sprinkler
import Testing

@testable import Service

@Suite("the sprinkler's backup behind the door")
struct SprinklerBackupTests {
  private static let mornings =
    #"{"name":"Mornings","days":["Mon","Fri"],"startTimes":["06:02"],"zones":[{"zoneId":1,"minutes":1},{"zoneId":2,"seconds":30}]}"#

  @Test("backup and restore: schedules and zones come back; a file that is no backup changes nothing")
  func backup() async throws {
    let bench = try SprinklerDoorBench()
    _ = try await bench.ask("POST", "/api/schedules", Self.mornings)
    let backup = try await bench.ask("GET", "/api/sprinkler/backup").body
    _ = try await bench.ask("DELETE", "/api/schedules/1")
    let wrong = await bench.refusal("POST", "/api/sprinkler/restore", "hello")
    #expect(wrong?.status == .unprocessableContent)
    let restore = try #require(bench.door.routes.first { $0.path == "/api/sprinkler/restore" })
    #expect(restore.fileLimit == SprinklerDoor.longestBackup && restore.scope == .admin)
    _ = try await bench.ask("POST", "/api/sprinkler/restore", bytes: backup)
    let schedules = try await bench.json("GET", "/api/schedules")
    #expect((schedules["schedules"] as? [[String: Any]])?.first?["name"] as? String == "Mornings")
  }

  @Test("a backup that does not fit these lines: refused with its field; store, schedules and log are as they were")
  func backupOfOtherLines() async throws {
    let bench = try SprinklerDoorBench()
    _ = try await bench.ask("POST", "/api/schedules", Self.mornings)
    _ = try await bench.ask("POST", "/api/zone/1/on")
    bench.run(seconds: 5)
    let elsewhere = try SprinklerDoorBench { $0.zones[2].gpioPin = 4 }
    _ = try await elsewhere.ask("POST", "/api/zone/2/on")
    _ = try await elsewhere.ask("POST", "/api/zone/2/off")
    let backup = try await elsewhere.ask("GET", "/api/sprinkler/backup").body
    let refusal = await #expect(throws: APIError.self) {
      _ = try await bench.ask("POST", "/api/sprinkler/restore", bytes: backup)
    }
    #expect(refusal?.code == "VALIDATION" && refusal?.field == "zones[2].gpioPin", "\(String(describing: refusal))")
    bench.run(seconds: 1)
    let stored = try bench.desk.store.records()
    #expect(stored == bench.desk.view.records && stored.zones.map(\.gpioPin) == SprinklerDoorBench.pins)
    #expect(stored.programs.map(\.name) == ["Mornings"])
    let log = try bench.desk.store.log().records
    #expect(log.map(\.zone.number) == [1], "the run that the restore ended, no line of the backup's")
  }

  @Test("restored while a zone is open: it closes, and schedule and store are the same from one moment to the next")
  func restoredWhileOpen() async throws {
    let bench = try SprinklerDoorBench()
    _ = try await bench.ask("POST", "/api/schedules", Self.mornings)
    let backup = try await bench.ask("GET", "/api/sprinkler/backup").body
    _ = try await bench.ask("DELETE", "/api/schedules/1")
    _ = try await bench.ask("POST", "/api/zone/1/on")
    bench.run(seconds: 3)
    _ = try await bench.ask("POST", "/api/sprinkler/restore", bytes: backup)
    #expect(!bench.isHigh(17))
    bench.run(seconds: 1)
    let stored = try bench.desk.store.records()
    #expect(stored == bench.desk.view.records && stored.pending.isEmpty && stored.programs.map(\.id) == [1])
    // Numbers are never given twice.
    let made = try await bench.json("POST", "/api/schedules", Self.mornings)
    #expect(made["id"] as? Int == 2)
  }
}
