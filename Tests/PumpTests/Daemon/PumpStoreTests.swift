import Foundation
import GRDB
import StoreSupport
import Tactus
import TestSupport
import Testing
import WallTime

@testable import PumpDaemon
@testable import Store

@Suite("the pump's sessions", .ownThread)
struct PumpStoreTests {
  private static let noon = StoreFolder.noon

  private func session(_ index: Int64, _ random: inout SplitMix64) -> PumpSession {
    func celsius() -> Double? {
      Bool.random(using: &random) ? Double(Int.random(in: -99...999, using: &random)) / 7 : nil
    }
    let words: [String?] = [nil, "app", "manual", "device", "host"]
    return PumpSession(
      start: Self.noon + index * 60, seconds: Double(Int.random(in: 0...18_000, using: &random)) / 7,
      startedBy: words.randomElement(using: &random)!, end: "off", endedBy: words.randomElement(using: &random)!,
      speedPercent: celsius(), water: .init(first: celsius(), last: celsius(), highest: celsius()),
      skin: .init(first: celsius(), last: celsius(), highest: celsius()))
  }

  @Test("200 random sessions: kept, found again in either order, page by page, and after the file was opened anew")
  func model() throws {
    let folder = try StoreFolder()
    var random = SplitMix64(seed: 5)
    var model: [PumpSession] = []
    for round in 0..<10 {
      let (file, report) = try folder.open()
      #expect(report.setAside.isEmpty && !report.isLoss)
      let store = PumpStore(file)
      for index in 0..<20 {
        var session = session(Int64(round * 20 + index), &random)
        session.number = try store.keep(session)
        // What goes on is kept again and again.
        session.seconds += 1
        #expect(try store.keep(session) == session.number)
        model.append(session)
      }
      #expect(try store.sessions(limit: 1_000).sessions == model.reversed())
      try file.close()
    }
    #expect(model.map(\.number) == Array(1...200))
    let (file, _) = try folder.open()
    let store = PumpStore(file)
    var paged: [PumpSession] = []
    var after: Int64?
    repeat {
      let page = try store.sessions(PumpSessionQuery(newestFirst: false), after: after, limit: 33)
      paged += page.sessions
      after = page.next
    } while after != nil
    #expect(paged == model)
    let some = PumpSessionQuery(since: model[10].start, until: model[20].start, newestFirst: false)
    #expect(try store.sessions(some).sessions == Array(model[10..<20]))
    #expect(try store.prune(before: model[150].start) == 150)
    #expect(try store.sessions(limit: 1_000).sessions.count == 50)
    #expect(try store.prune(before: model[199].start + 1) == 49, "the last one stays: numbers go on from it")
    #expect(try store.keep(model[0]) == 1 && store.keep(PumpSession(start: Self.noon)) == 201)
    try file.close()
  }

  @Test("a session that was open when the program died: ended as a power cut, with what it had pumped")
  func powerCut() throws {
    let folder = try StoreFolder()
    let (file, _) = try folder.open()
    try PumpStore(file).keep(PumpSession(start: Self.noon, seconds: 12.5, startedBy: "app"))
    try file.close()
    let (again, _) = try folder.open()
    let store = PumpStore(again)
    #expect(try store.endOpen(as: "power-cut") == 1 && store.endOpen(as: "power-cut") == 0)
    let session = try #require(try store.sessions().sessions.first)
    #expect(session.end == "power-cut" && session.seconds == 12.5 && session.endedBy == nil)
    try again.close()
  }

  @Test("a digit changed in the file: found by its seal, a snapshot takes its place")
  func sealed() throws {
    let folder = try StoreFolder()
    let (file, _) = try folder.open()
    try PumpStore(file).keep(PumpSession(start: Self.noon, seconds: 60, end: "off"))
    _ = try file.snapshotIfDue(at: Self.noon + 86_400)
    try file.close()
    let queue = try DatabaseQueue(path: folder.store)
    try queue.writeWithoutTransaction { try $0.execute(sql: "UPDATE pump_session SET seconds = 61") }
    try queue.close()
    let (again, report) = try folder.open(at: Self.noon + 86_500)
    #expect(!report.setAside.isEmpty, "\(report.lines)")
    #expect(try PumpStore(again).sessions().sessions.first?.seconds == 60)
    try again.close()
  }

  @Test("a file as pump.1 left it: opened, every session as it was written")
  func fixture() throws {
    let folder = try StoreFolder()
    try folder.put(fixture: "pump-1.sql")
    let (file, report) = try folder.open()
    #expect(report.origin == .found && !report.isLoss, "\(report.lines)")
    #expect(report.migrated.contains("pump.4"))
    #expect(try PumpStore(file).sessions(PumpSessionQuery(newestFirst: false)).sessions == Self.fixtureContents)
    try PumpStore(file).add([Self.minute(0)])
    #expect(try minutes(PumpStore(file)) == [Self.minute(0)])
    try file.close()
  }

  /// What `fixtures/pump-1.sql` holds: `sqlite3 STORE .dump` of a store in which these were kept.
  static let fixtureContents = [
    PumpSession(
      number: 1, start: noon, seconds: 1_799.5, startedBy: "app", end: "run-limit", endedBy: "host",
      speedPercent: 70.25,
      water: .init(first: 8, last: 14.5, highest: 14.5), skin: .init(first: 36.5, last: 34.25, highest: 36.5)),
    PumpSession(number: 2, start: noon + 3_600, seconds: 0.5, startedBy: "manual", end: "off", endedBy: "manual"),
    PumpSession(number: 3, start: noon + 7_200),
  ]

  @Test("a note: with its session, in pages, in CSV and after a restore; changed, removed, gone with its session")
  func notes() throws {
    let folder = try StoreFolder()
    let (file, _) = try folder.open()
    let store = PumpStore(file)
    for _ in 0..<3 { try store.keep(PumpSession(start: Self.noon, end: "off")) }
    #expect(try store.keep(note: "left knee", of: 2)?.note == "left knee" && store.keep(note: "x", of: 4) == nil)
    let backup = try file.backup()
    #expect(try store.keep(note: nil, of: 2)?.note == nil)
    #expect(try store.sessions().sessions.map(\.note) == [nil, nil, nil])
    #expect(try file.restore(file.check(backup, at: Self.noon)) { _ in true })
    #expect(try store.sessions().sessions.map(\.note) == [nil, "left knee", nil])
    // The session is kept again while it goes on, and keeps its note.
    try store.keep(PumpSession(number: 2, start: Self.noon, seconds: 5, end: "off"))
    #expect(try store.sessions().sessions[1].note == "left knee")
    #expect(try store.prune(beyond: 1) == 2)
    #expect(try file.pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM pump_note") } == 0)
    try file.close()
  }

  @Test("restore: sessions of both, the present one's where both have one")
  func restore() throws {
    let folder = try StoreFolder()
    let (file, _) = try folder.open()
    let store = PumpStore(file)
    try store.keep(PumpSession(start: Self.noon, seconds: 1, end: "off"))
    let backup = try file.backup()
    try store.keep(PumpSession(number: 1, start: Self.noon, seconds: 2, end: "off"))
    try store.keep(PumpSession(start: Self.noon + 60, seconds: 3, end: "off"))
    #expect(try file.restore(file.check(backup, at: Self.noon)) { _ in true })
    #expect(try store.sessions(PumpSessionQuery(newestFirst: false)).sessions.map(\.seconds) == [2, 3])
    try file.close()
  }

  /// A minute of readings, so many minutes after the beginning of noon's.
  private static func minute(_ index: Int64, skin: Double = 34.5) -> PumpSpan {
    PumpSpan(
      start: PumpSpan.start(of: noon) + index * 60, samples: 60, running: 20,
      speed: PumpSpread(count: 20, least: 60, mean: 70.5, highest: 80),
      skin: PumpSpread(count: 60, least: 30, mean: skin, highest: 36))
  }

  private func minutes(_ store: PumpStore) throws(StoreError) -> [PumpSpan] {
    let start = PumpSpan.start(of: Self.noon)
    return try store.spans(PumpRaster(from: start, until: start + 86_400, points: 1_440))
  }

  @Test("minutes of readings: as they were written, in spans of any length, merged with their own, removed by age")
  func minutesOfReadings() throws {
    let folder = try StoreFolder()
    let (file, _) = try folder.open()
    let store = PumpStore(file)
    let model = (Int64(0)..<120).filter { $0 % 10 < 7 }.map { Self.minute($0, skin: 30 + 0.5 * Double($0 % 10)) }
    try store.add(model)
    #expect(try minutes(store) == model)
    let start = PumpSpan.start(of: Self.noon)
    let merged = try store.spans(PumpRaster(from: start, until: start + 7_200, points: 12))
    #expect(merged.map(\.start) == (Int64(0)..<12).map { start + $0 * 600 })
    #expect(merged.allSatisfy { $0.samples == 420 && $0.running == 140 && $0.water == nil })
    #expect(merged.allSatisfy { $0.skin?.mean == 31.5 && $0.skin?.count == 420 && $0.speed?.mean == 70.5 })
    try store.add([model[0]])
    #expect(try minutes(store).first?.samples == 120)
    #expect(try store.pruneSpans(before: start + 60) == 1 && store.pruneSpans(beyond: 80) == 3)
    try file.close()
    let (again, report) = try folder.open()
    #expect(report.setAside.isEmpty && !report.isLoss, "\(report.lines)")
    #expect(try minutes(PumpStore(again)) == Array(model.dropFirst(4)))
    try again.close()
  }

  @Test("restore: minutes of both, the present one's where both have one; a backup's that make no sense are refused")
  func restoreOfMinutes() throws {
    let folder = try StoreFolder()
    let (file, _) = try folder.open()
    let store = PumpStore(file)
    try store.add([Self.minute(0), Self.minute(1)])
    let backup = try file.backup()
    try store.pruneSpans(beyond: 1)
    try store.add([Self.minute(1), Self.minute(2)])
    #expect(try file.restore(file.check(backup, at: Self.noon)) { _ in true })
    #expect(try minutes(store).map(\.samples) == [60, 120, 60])
    for odd in [
      PumpSpan(start: PumpSpan.start(of: Self.noon) + 1, samples: 1, running: 0),
      PumpSpan(start: PumpSpan.start(of: Self.noon), samples: 1, running: 2),
      PumpSpan(start: PumpSpan.start(of: Self.noon), samples: 0, running: 0),
      PumpSpan(start: PumpSpan.start(of: Self.noon), samples: 1, running: 0, skin: PumpSpread(.infinity)),
      PumpSpan(start: PumpSpan.start(of: Self.noon), samples: 1, running: 1, speed: PumpSpread(101)),
    ] {
      let place = try StoreFolder()
      defer { withExtendedLifetime(place) {} }
      let (other, _) = try place.open()
      try PumpStore(other).add([odd])
      let bytes = try other.backup()
      try other.close()
      #expect(throws: StoreError.damaged(file: "the backup", reason: "1 minutes of its pump make no sense")) {
        try file.restore(file.check(bytes, at: Self.noon)) { _ in true }
      }
    }
    #expect(try minutes(store).map(\.samples) == [60, 120, 60])
    try file.close()
  }

  @Test("a backup whose sessions are sealed and make no sense: refused, and what is here stays")
  func nonsense() throws {
    let folder = try StoreFolder()
    let (file, _) = try folder.open()
    let store = PumpStore(file)
    try store.keep(PumpSession(start: Self.noon, seconds: 1, end: "off"))
    for session in [
      PumpSession(number: .max, start: Self.noon), PumpSession(number: 2, start: WallInstant(secondsSince1970: .max)),
      PumpSession(number: 2, start: Self.noon, seconds: .infinity),
      PumpSession(number: 2, start: Self.noon, seconds: -1),
      PumpSession(number: 2, start: Self.noon, speedPercent: 1e300),
      PumpSession(number: 2, start: Self.noon, water: .init(first: 8, last: -.infinity, highest: 8)),
    ] {
      let place = try StoreFolder()
      defer { withExtendedLifetime(place) {} }
      let (other, _) = try place.open()
      try PumpStore(other).keep(session)
      let backup = try other.backup()
      try other.close()
      #expect(throws: StoreError.damaged(file: "the backup", reason: "1 sessions of its pump make no sense")) {
        try file.restore(file.check(backup, at: Self.noon)) { _ in true }
      }
    }
    #expect(try store.sessions().sessions.map(\.number) == [1])
    #expect(try store.keep(PumpSession(start: Self.noon)) == 2)
    try file.close()
  }

  @Test("CSV: a header, a line each, unknown is empty, in pieces of any size")
  func csv() throws {
    let folder = try StoreFolder()
    let (file, _) = try folder.open()
    let store = PumpStore(file)
    for session in Self.fixtureContents { try store.keep(session) }
    for size in 1...4 {
      var lines = store.sessionsCSV(linesAPiece: size)
      var text = ""
      while let piece = try lines.next() { text += piece }
      let found = text.components(separatedBy: "\r\n")
      #expect(found.count == 5 && found[4] == "")
      #expect(found[0].hasPrefix("number,start,seconds,startedBy,end,"))
      #expect(
        found[1] == "1,2026-09-21T14:13:20Z,1799.5,app,run-limit,host,70.3,8.0,14.5,14.5,36.5,34.3,36.5,")
      #expect(found[3] == "3,2026-09-21T16:13:20Z,0.0,,,,,,,,,,,")
    }
    try file.close()
  }

  @Test(
    "100 kills while sessions are kept: the file is sound, and every number that was told is there", arguments: [1, 2])
  func kills(seed: UInt64) throws {
    let folder = try StoreFolder()
    var random = SplitMix64(seed: seed)
    var told: Int64 = 0
    for round in 0..<50 {
      let probe = try ProbeProcess([folder.store, "pump"])
      let target = told + Int64.random(in: 0...12, using: &random)
      while told < target, let line = probe.line() {
        if let number = Int64(line) { told = number } else { #expect(!line.contains("lost"), "\(line)") }
      }
      probe.kill()
      while let line = probe.line() { if let number = Int64(line) { told = number } }
      let (file, report) = try folder.open()
      let sessions = try PumpStore(file).sessions(PumpSessionQuery(newestFirst: false), limit: 10_000).sessions
      try file.close()
      #expect(report.setAside.isEmpty && !report.isLoss, "seed \(seed), round \(round): \(report.lines)")
      // The one after it may be there, whole.
      #expect(sessions.count == Int(told) || sessions.count == Int(told) + 1, "seed \(seed), round \(round)")
      #expect(sessions.allSatisfy { $0.seconds == Double($0.number) && $0.skin.last == Double($0.number) })
      told = Int64(sessions.count)
    }
    #expect(told > 100)
  }
}
