import Foundation
import GRDB
import Sprinkler
import StoreSupport
import TestSupport
import Testing
import WallTime

@testable import SprinklerDaemon
@testable import Store

@Suite("Backup and restore", .ownThread)
struct BackupTests {
  let folder: StoreFolder
  let file: StoreFile
  let store: SprinklerStore

  init() throws {
    folder = try StoreFolder()
    file = try folder.open().file
    store = SprinklerStore(file)
  }

  private func record(_ run: UInt64, name: String = "Lawn") -> WateringRecord {
    WateringRecord(
      run: run, zone: ZoneID(index: 0), zoneName: name, program: nil, programName: nil, isScheduled: false,
      start: StoreFolder.noon + Int64(run), askedSeconds: 60, ranSeconds: 60, outcome: .completed)
  }

  @Test(
    "restored on a new machine: zones, programs, levels, rain delay, start keys and log of the backup; its queue is not run"
  )
  func newMachine() throws {
    let (records, log) = MigrationTests.fixtureContents
    try store.apply([.everything(records)] + log.map { .log($0) })
    let bytes = try file.backup()
    let other = try StoreFolder()
    let (kept, _) = try other.with { store in
      try store.restore(bytes)
      return try (store.records(), store.log().records)
    }
    var expected = records
    expected.pending = []
    expected.ranToday = [:]
    expected.day = nil
    expected.nextRun = 13
    #expect(kept.0 == expected && kept.1 == log)
    #expect(try other.with { try $0.records() }.result == expected)
  }

  @Test("restored over newer things: queue, seconds of today and lines since then stay, numbers never go back")
  func merged() throws {
    let (records, _) = MigrationTests.fixtureContents
    try store.apply([.everything(records), .log(record(1)), .log(record(2))])
    let backup = folder.path + "/backup.sqlite"
    try file.backup(to: backup)

    let run = PendingRun(
      run: 40, zone: ZoneID(index: 5), program: nil, isScheduled: false, askedSeconds: 60, soakSeconds: 0,
      ignoresRain: false, queued: StoreFolder.noon)
    let (day, key) = (
      LocalDate(year: 2026, month: 9, day: 22),
      StartKey(program: 1, start: .clock(minute: 390), date: LocalDate(year: 2026, month: 9, day: 22))
    )
    try store.apply([
      .zones([]), .programRemoved(id: 1), .levels(SprinklerLevels()), .rainDelay(nil), .pendingRemoved(run: 8),
      .pendingRemoved(run: 9), .pending(run), .log(record(2, name: "Renamed")), .log(record(30)), .started(key),
      .ran(ZoneID(index: 5), seconds: 9, day: day), .counters(nextRun: 41, nextProgram: 9),
    ])
    let before = try store.records()
    try store.restore(try file.check(backup: backup, at: StoreFolder.noon + 9))

    var expected = records
    expected.startKeys.append(key)
    expected.pending = [run]
    expected.nextRun = 41
    expected.nextProgram = 9
    expected.ranToday = [ZoneID(index: 5): 9]
    expected.day = day
    #expect(try store.records() == expected)
    #expect(try store.log().records == [record(30), record(2, name: "Renamed"), record(1)])
    // Taken back: what was there just before is kept.
    try store.restore(try #require(try file.checkReplaced(at: StoreFolder.noon + 10)))
    #expect(try store.records().zones == before.zones)
    #expect(try store.records().programs == before.programs)
    #expect(try folder.names("data/store.sqlite.snapshots").allSatisfy { $0.hasSuffix(".sqlite") })
  }

  @Test("a backup of an older version: brought up to date on the way")
  func older() throws {
    let (records, _) = MigrationTests.fixtureContents
    try store.apply([.everything(records)])
    let bytes = try file.backup()
    let other = try StoreFolder()
    let (file, _) = try other.open(schema: StoreFileTests.later)
    try SprinklerStore(file).restore(bytes)
    #expect(try SprinklerStore(file).records().programs == records.programs)
  }

  @Test(
    "not a backup, damaged, foreign, of a newer version: refused with the reason, nothing changed, nothing left behind")
  func refused() throws {
    try store.apply([.counters(nextRun: 5, nextProgram: 2), .log(record(1))])
    let before = try store.records()
    let other = try StoreFolder()
    let newer = try other.open(schema: StoreFileTests.later).file.backup()
    let picture = other.path + "/pictures.sqlite"
    try DatabaseQueue(path: picture).write { try $0.execute(sql: "CREATE TABLE pictures (id INTEGER)") }
    let good = try file.backup()
    // A line of the log, in its table, with other letters.
    var changed = good
    let place = try #require(good.firstRange(of: Array("Lawn".utf8)))
    changed.replaceSubrange(place, with: Array("Lown".utf8))

    func expect(_ bytes: [UInt8], _ error: StoreError) {
      #expect(throws: error) { try store.restore(bytes) }
    }
    expect([], .damaged(file: "the backup", reason: "it is empty"))
    expect(Array("{\"zones\":[]}".utf8), .damaged(file: "the backup", reason: "it has only 12 bytes"))
    expect(Array(repeating: 0x20, count: 4096), .damaged(file: "the backup", reason: "it is not an SQLite file"))
    expect(changed, .damaged(file: "the backup", reason: "row 1 of sprinkler_log is not what was written"))
    expect(newer, .newer(file: "the backup", unknown: ["later.1"]))
    expect(try folder.bytes(picture), .foreign(file: "the backup", found: "the tables pictures"))
    #expect(throws: StoreError.self) { try store.restore(Array(good.dropLast(5000))) }
    #expect(throws: StoreError.self) { _ = try file.check(backup: folder.path + "/nothing", at: StoreFolder.noon) }
    #expect(try store.records() == before)
    #expect(try folder.names("data/store.sqlite.snapshots") == [])
  }

  @Test("a backup with a trigger or a view beside our tables: refused")
  func smuggled() throws {
    let backup = folder.path + "/backup.sqlite"
    for extra in [
      "CREATE TRIGGER t AFTER DELETE ON sprinkler_zone BEGIN DELETE FROM sprinkler_log; END",
      "CREATE VIEW v AS SELECT 1", "CREATE TABLE more (id INTEGER)", "DROP INDEX sprinkler_log_zone",
    ] {
      try? FileManager.default.removeItem(atPath: backup)
      try file.backup(to: backup)
      let queue = try DatabaseQueue(path: backup)
      try queue.write { try $0.execute(sql: extra) }
      try queue.close()
      #expect(throws: StoreError.damaged(file: backup, reason: "its tables are not those that were made")) {
        _ = try file.check(backup: backup, at: StoreFolder.noon)
      }
    }
  }

  @Test("a backup onto a file that is there: refused, the file stays")
  func noOverwriting() throws {
    let path = folder.path + "/backup.sqlite"
    try folder.put([1], in: path)
    #expect(throws: StoreError.failed(file: path, doing: "writing a backup", reason: "there is a file of that name")) {
      try file.backup(to: path)
    }
    #expect(try folder.bytes(path) == [1])
  }

  @Test("who restores thinks better of it: neither records nor a line of the log have changed")
  func takenBack() throws {
    let (records, _) = MigrationTests.fixtureContents
    try store.apply([.everything(records), .log(record(1))])
    try store.apply([.zones([]), .log(record(2))])
    let before = try store.records()
    let other = try StoreFolder()
    let (foreign, _) = try other.open()
    try SprinklerStore(foreign).apply([.log(record(7))])
    let backup = try file.check(try foreign.backup(), at: StoreFolder.noon)
    #expect(try !store.restore(backup) { _ in nil })
    #expect(try store.records() == before && store.log().records == [record(2), record(1)])
    // The same backup can be taken after all, once it is wanted.
    #expect(try store.restore(backup) { _ in [.counters(nextRun: 70, nextProgram: 9)] })
    #expect(try store.records().zones.isEmpty && store.log().records == [record(7), record(2), record(1)])
  }

  @Test("two backups looked at together, one let go: files of their own, removed with them; a killed process's, too")
  func files() throws {
    let bytes = try file.backup()
    var first: CheckedBackup? = try file.check(bytes, at: StoreFolder.noon)
    let second = try file.check(bytes, at: StoreFolder.noon + 1)
    func restored() throws -> [String] {
      try folder.names("data/store.sqlite.snapshots").filter { $0.wholeMatch(of: /restored-\d/) != nil }
    }
    #expect(try restored() == ["restored-1", "restored-2"] && first != nil)
    first = nil
    #expect(try restored() == ["restored-2"])
    #expect(try store.restore(second) { [.everything($0)] })
    try folder.put([1], in: folder.snapshots + "/restored-9")
    try folder.put([1], in: folder.snapshots + "/unfinished")
    try file.close()
    _ = try folder.open()
    #expect(try folder.names("data/store.sqlite.snapshots").allSatisfy { $0.hasSuffix(".sqlite") })
  }

  @Test("a backup whose lines are sealed and make no sense: refused, and what it was to replace stays")
  func nonsense() throws {
    var line = record(3)
    line.start = WallInstant(secondsSince1970: .max)
    var wordy = record(4)
    wordy.why = String(repeating: "w", count: 401)
    for change: SprinklerChange in [
      .log(line), .log(wordy),
      .log(
        WateringRecord(
          run: 3, zone: ZoneID(index: 0), zoneName: "", program: nil, programName: nil, isScheduled: false,
          start: StoreFolder.noon, askedSeconds: 1, ranSeconds: .infinity, outcome: .completed)),
    ] {
      let bytes = try StoreFolder().with { store in
        try store.apply([change])
        return try store.file.backup()
      }.result
      #expect(
        throws: StoreError.damaged(
          file: "the backup",
          reason: "1 \(change == .log(wordy) ? "reasons" : "lines") of its watering log make no sense")
      ) {
        try store.restore(bytes)
      }
    }
    #expect(try store.log().records.isEmpty)
  }
}
