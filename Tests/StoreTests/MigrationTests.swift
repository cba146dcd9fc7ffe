import Foundation
import GRDB
import PumpDaemon
import Sprinkler
import StoreSupport
import TestSupport
import Testing
import WallTime

@testable import SprinklerDaemon
@testable import Store

@Suite("Migrations", .ownThread)
struct MigrationTests {
  @Test("a file as sprinkler.1 left it: opened, every record and line as they were written")
  func fixture() throws {
    let folder = try StoreFolder()
    try folder.put(fixture: "sprinkler-1.sql")
    let (kept, report) = try folder.with { try ($0.records(), $0.log().records) }
    #expect(report.origin == .found && !report.isLoss, "\(report.lines)")
    let (records, log) = Self.fixtureContents
    #expect(kept.0 == records)
    #expect(kept.1 == log)
  }

  @Test(
    "an older file: a snapshot of it is kept, then it is brought up to date and says so; the older program refuses it then"
  )
  func older() throws {
    let folder = try StoreFolder()
    let (records, _) = Self.fixtureContents
    try folder.with { try $0.apply([.everything(records)]) }
    let (file, report) = try folder.open(schema: StoreFileTests.later)
    #expect(report.migrated == ["later.1"])
    #expect(report.lines == ["\(folder.store): brought up to date: later.1"])
    #expect(try SprinklerStore(file).records() == records)
    let snapshot = try #require(try file.snapshots().last)
    try file.close()
    #expect(throws: StoreError.newer(file: folder.store, unknown: ["later.1"])) { try folder.open() }
    // The way back: the snapshot in its place.
    try folder.put(try folder.bytes(snapshot.path), in: folder.store)
    #expect(try folder.with { try $0.records() }.result == records)
  }

  @Test("a file of sprinkler.1 alone: brought up to date, nothing of it lost")
  func sprinklerAlone() throws {
    let folder = try StoreFolder()
    let (old, _) = try folder.open(schema: StoreSchema(systems: [.sprinkler]))
    try SprinklerStore(old).apply([.counters(nextRun: 7, nextProgram: 1)])
    try old.close()
    let (file, report) = try folder.open()
    #expect(report.migrated == ["plants.1", "plants.2", "pump.1", "pump.2", "pump.3", "pump.4"])
    #expect(try SprinklerStore(file).records().nextRun == 7)
    #expect(try PumpStore(file).keep(PumpSession(start: StoreFolder.noon)) == 1)
    try file.close()
  }

  @Test("a migration that fails: the file is as before, the error says which one")
  func failing() throws {
    let folder = try StoreFolder()
    try folder.with { try $0.apply([.counters(nextRun: 5, nextProgram: 1)]) }
    let broken = StoreSchema(
      systems: StoreSystem.all + [
        StoreSystem(
          contents: [],
          migrations: [
            .init(name: "broken.1") { try $0.execute(sql: "CREATE TABLE half (id INTEGER); DROP TABLE nowhere") }
          ], restore: { _ in })
      ])
    do {
      _ = try folder.open(schema: broken)
      Issue.record("it was opened")
    } catch {
      guard case .failed(folder.store, "bringing it up to date", let reason) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(reason.contains("no such table: nowhere"))
    }
    let (records, report) = try folder.with { try $0.records() }
    #expect(report.origin == .found && records.nextRun == 5)
  }

  /// What `fixtures/sprinkler-1.sql` holds: `sqlite3 STORE .dump` of a store to which `.everything` and the lines were applied.
  static var fixtureContents: (SprinklerRecords, [WateringRecord]) {
    var records = SprinklerRecords()
    let (lawn, beds) = (ZoneID(index: 1), ZoneID(index: 0))
    let now = StoreFolder.noon
    records.zones = [
      Zone(id: lawn, name: "Lawn, \"front\"", gpioPin: 17, maximumSecondsPerDay: 5_400, group: 2),
      Zone(id: beds, name: "Beete 🌱", gpioPin: 4, isEnabled: false, ignoresRain: true, usesMaster: false),
    ]
    records.programs = [
      Program(
        id: 2, name: "Evening", isEnabled: false,
        days: .interval(days: 3, from: LocalDate(year: 2026, month: 2, day: 28)),
        season: Season(from: MonthDay(month: 10, day: 1), to: MonthDay(month: 3, day: 31)),
        starts: [.sunrise(offsetMinutes: -30), .sunset(offsetMinutes: 15)], steps: [.init(zone: beds, seconds: 90)],
        cycleAndSoak: .init(cycleSeconds: 60, soakSeconds: 600), followsSeason: false, skipsInRain: false, priority: -3),
      Program(
        id: 1, name: "Morning", days: .weekdays(0b001_0101), starts: [.clock(minute: 390)],
        steps: [.init(zone: lawn, seconds: 720), .init(zone: beds, seconds: 600)]),
      Program(id: 3, name: "Odd", days: .odd, starts: [.clock(minute: 0)], steps: [.init(zone: lawn, seconds: 1)]),
      Program(id: 4, name: "Even", days: .even, starts: [.clock(minute: 1)], steps: [.init(zone: lawn, seconds: 1)]),
    ]
    records.levels = SprinklerLevels(seasonalPercent: 80, monthlyPercent: Array(1...12))
    records.rainDelay = RainDelay(until: now + 86_400, reason: .weather("8.2 mm expected within 24 h"))
    let date = LocalDate(year: 2026, month: 9, day: 21)
    records.startKeys = [
      StartKey(program: 1, start: .clock(minute: 390), date: date),
      StartKey(program: 2, start: .sunrise(offsetMinutes: -30), date: date),
      StartKey(program: 2, start: .sunset(offsetMinutes: 15), date: date),
    ]
    records.pending = [
      PendingRun(
        run: 9, zone: lawn, program: 1, isScheduled: true, askedSeconds: 720, soakSeconds: 0, ignoresRain: false,
        queued: now, opened: now + 1, ranSeconds: 12.5),
      PendingRun(
        run: 8, zone: beds, program: nil, isScheduled: false, askedSeconds: 600, soakSeconds: 60, ignoresRain: true,
        queued: now, caller: "token phone"),
    ]
    records.nextRun = 10
    records.nextProgram = 5
    records.ranToday = [lawn: 732.25, beds: 0]
    records.day = date
    let outcomes = (0...11).compactMap { RunOutcome(rawValue: $0) }
    let log = outcomes.map { outcome in
      WateringRecord(
        run: UInt64(outcome.rawValue) + 1, zone: lawn, zoneName: "Lawn", program: outcome == .stopped ? nil : 1,
        programName: outcome == .stopped ? nil : "Morning", isScheduled: outcome != .stopped,
        start: now + Int64(outcome.rawValue), askedSeconds: 720, ranSeconds: outcome == .missed ? 0 : 719.75,
        outcome: outcome, caller: outcome == .stopped ? "token phone" : nil)
    }
    return (records, log.reversed())
  }
}
