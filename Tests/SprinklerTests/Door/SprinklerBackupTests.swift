import Foundation
import GRDB
import Sprinkler
import Testing
import WallTime

@testable import Service
@testable import SprinklerDaemon
@testable import Store

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
    #expect(restore.fileLimit == SprinklerRoutes.longestBackup && restore.scope == .admin)
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

  @Test("a store that refuses: on is 503 and opens nothing, off closes and says so; taken again, the log has the end")
  func storeRefuses() async throws {
    let bench = try SprinklerDoorBench()
    _ = try await bench.ask("POST", "/api/zone/1/on", #"{"minutes":10}"#)
    bench.run(seconds: 3)
    // Rows that cannot be written any more.
    try bench.sql("ALTER TABLE sprinkler_pending RENAME TO elsewhere")
    let refusal = await bench.refusal("POST", "/api/zone/2/on")
    #expect(refusal?.status == .serviceUnavailable && refusal?.code == "STORE_FAILED")
    #expect(bench.isHigh(17) && !bench.isHigh(27))
    let off = try await bench.json("POST", "/api/zone/1/off")
    #expect(!bench.isHigh(17) && (off["warning"] as? String)?.hasPrefix("the valve is closed; the store") == true)
    try bench.sql("ALTER TABLE elsewhere RENAME TO sprinkler_pending")
    bench.run(seconds: 1)
    #expect(try bench.desk.store.log().records.map(\.outcome) == [.stopped] && bench.desk.view.storeFailure == nil)
    #expect(try bench.desk.store.records().pending.isEmpty)
  }

  @Test("a run that begins and is paused while the store refuses: noted as paused as soon as the store takes it")
  func pausedWhileStoreRefuses() async throws {
    let bench = try SprinklerDoorBench()
    _ = try await bench.ask(
      "POST", "/api/run-once", #"{"zones":[{"zoneId":1,"seconds":10},{"zoneId":2,"seconds":60}]}"#)
    bench.run(seconds: 8)
    try bench.sql("ALTER TABLE sprinkler_pending RENAME TO elsewhere")
    bench.run(seconds: 4)
    #expect(bench.isHigh(27))
    _ = try await bench.ask("POST", "/api/pause", #"{"seconds":600}"#)
    #expect(!bench.isHigh(27))
    bench.run(seconds: 2)
    try bench.sql("ALTER TABLE elsewhere RENAME TO sprinkler_pending")
    bench.run(for: 300)
    let paused = try #require(try bench.desk.store.records().pending.first)
    #expect(paused.zone.number == 2 && paused.opened != nil && paused.openSince == nil, "\(paused)")
    #expect((1...4).contains(paused.ranSeconds))
  }

  @Test(
    "a restore while the store's folder is away: 503, the open valve stays open, nothing is changed; back, it restores")
  func restoredWhileAway() async throws {
    let bench = try SprinklerDoorBench()
    _ = try await bench.ask("POST", "/api/schedules", Self.mornings)
    let backup = try await bench.ask("GET", "/api/sprinkler/backup").body
    _ = try await bench.ask("DELETE", "/api/schedules/1")
    _ = try await bench.ask("POST", "/api/zone/1/on", #"{"minutes":10}"#)
    let (folder, away) = (bench.folder.path(percentEncoded: false), bench.folder.path(percentEncoded: false) + "-away")
    try FileManager.default.moveItem(atPath: folder, toPath: away)
    let refusal = await #expect(throws: APIError.self) {
      _ = try await bench.ask("POST", "/api/sprinkler/restore", bytes: backup)
    }
    #expect(refusal?.status == .serviceUnavailable && refusal?.code == "STORE_FAILED")
    #expect(refusal?.message.hasPrefix("nothing was changed: \(folder)") == true, "\(String(describing: refusal))")
    #expect(bench.isHigh(17) && bench.desk.view.records.programs.isEmpty)
    try FileManager.default.moveItem(atPath: away, toPath: folder)
    _ = try await bench.ask("POST", "/api/sprinkler/restore", bytes: backup)
    #expect(!bench.isHigh(17) && bench.desk.view.records.programs.map(\.name) == ["Mornings"])
  }

  @Test(
    "a restore that the disk has no room for: 503, every valve is closed, nothing of the backup is there; with room, all of it"
  )
  func restoredWithoutRoom() async throws {
    let elsewhere = try SprinklerDoorBench()
    _ = try await elsewhere.ask("POST", "/api/schedules", Self.mornings)
    let lines = (1...2000).map { number in
      SprinklerChange.log(
        WateringRecord(
          run: UInt64(number), zone: ZoneID(2)!, zoneName: "Elsewhere", program: nil, programName: nil,
          isScheduled: false, start: SprinklerDoorBench.start - 86_400 + Int64(number), askedSeconds: 60,
          ranSeconds: 60,
          outcome: .completed))
    }
    try elsewhere.desk.store.apply(lines)
    let backup = try await elsewhere.ask("GET", "/api/sprinkler/backup").body

    let bench = try SprinklerDoorBench()
    _ = try await bench.ask("POST", "/api/zone/1/on", #"{"minutes":10}"#)
    bench.run(seconds: 5)
    // Room for the end of a run, not for 2,000.
    try bench.limitPages(toMore: 4)
    let refusal = await #expect(throws: APIError.self) {
      _ = try await bench.ask("POST", "/api/sprinkler/restore", bytes: backup)
    }
    #expect(refusal?.status == .serviceUnavailable && refusal?.code == "STORE_FAILED")
    #expect(
      refusal?.message.hasPrefix("nothing was restored, every valve is closed: ") == true
        && refusal?.message.contains("the disk is full; to go on: make room") == true, "\(String(describing: refusal))")
    bench.run(seconds: 1)
    #expect(!bench.isHigh(17) && bench.desk.view.records.programs.isEmpty)
    #expect(
      try bench.desk.store.log().records.map(\.outcome) == [.stopped], "its own run's end, no line of the backup's")
    #expect(try bench.desk.store.records() == bench.desk.view.records)
    try bench.limitPages(toMore: 1 << 20)
    _ = try await bench.ask("POST", "/api/sprinkler/restore", bytes: backup)
    #expect(try bench.desk.store.log(limit: 10_000).records.count == 2001)
    #expect(bench.desk.view.records.programs.map(\.name) == ["Mornings"] && bench.desk.view.storeFailure == nil)
  }
}

extension SprinklerDoorBench {
  /// As a disk that has room for so many pages more.
  fileprivate func limitPages(toMore count: Int) throws {
    try desk.store.file.pool.writeWithoutTransaction { database in
      let pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
      _ = try Int.fetchOne(database, sql: "PRAGMA max_page_count = \(pages + count)")
    }
  }
}
