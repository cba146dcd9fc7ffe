import Foundation
import GRDB
import Sprinkler
import StoreSupport
import TestSupport
import Testing
import WallTime

@testable import SprinklerDaemon
@testable import Store

@Suite("Watering log", .ownThread)
struct WateringLogTests {
  let folder: StoreFolder
  let store: SprinklerStore
  static let lawn = ZoneID(index: 0)

  init() throws {
    folder = try StoreFolder()
    store = SprinklerStore(try folder.open().file)
  }

  /// One that is known by its run; zones 1…3 and programs none, 1, 2 in turn.
  private func record(_ run: UInt64, start: Int64) -> WateringRecord {
    let program = run % 3 == 0 ? nil : Int(run % 3)
    return WateringRecord(
      run: run, zone: ZoneID(index: Int(run % 3)), zoneName: "Lawn", program: program,
      programName: program.map { "P\($0)" }, isScheduled: program != nil, start: StoreFolder.noon + start,
      askedSeconds: 60, ranSeconds: 60, outcome: .completed)
  }

  @Test("why a run was changed: kept with its line, in the CSV, and gone with the line")
  func why() throws {
    var changed = record(1, start: 0)
    changed.why = "plant 3 read 72 %"
    try store.apply([.log(changed), .log(record(2, start: 10))])
    #expect(try store.log().records.map(\.why) == [nil, "plant 3 read 72 %"])
    try store.pruneLog(before: StoreFolder.noon + 5)
    #expect(try store.log().records.map(\.run) == [2])
    #expect(try store.file.read("counting") { try Int.fetchOne($0, sql: "SELECT count(*) FROM sprinkler_why") } == 0)
    try store.apply([.log(changed)])
    changed.why = nil
    try store.apply([.log(changed)])
    #expect(try store.log().records.map(\.why) == [nil, nil], "a line that is written again")
  }

  private func runs(_ query: LogQuery, limit: Int) throws -> [UInt64] {
    var runs: [UInt64] = []
    var place: LogPosition?
    repeat {
      let page = try store.log(query, after: place, limit: limit)
      #expect(page.records.count == limit || page.next == nil)
      runs += page.records.map(\.run)
      place = page.next
    } while place != nil
    return runs
  }

  @Test("pages of any size, both directions, every filter: each line once, in the order of start and run")
  func pages() throws {
    // Several start in the same second; numbers are not in the order of time.
    let records = (1...40).map { record(UInt64($0), start: Int64($0 * 7 % 40 / 3)) }
    try store.apply(records.map { .log($0) })
    let queries = [
      LogQuery(), LogQuery(since: StoreFolder.noon + 4), LogQuery(until: StoreFolder.noon + 4),
      LogQuery(zone: Self.lawn),
      LogQuery(program: 2), LogQuery(since: StoreFolder.noon + 2, until: StoreFolder.noon + 11, zone: Self.lawn),
      LogQuery(program: 9),
    ]
    for var query in queries {
      let expected = records.filter { record in
        query.since.map { record.start >= $0 } ?? true && query.until.map { record.start < $0 } ?? true
          && query.zone.map { record.zone == $0 } ?? true && query.program.map { record.program == $0 } ?? true
      }.sorted { ($0.start, $0.run) < ($1.start, $1.run) }.map(\.run)
      for limit in [1, 3, 7, 39, 40, 41, 10_000] {
        query.newestFirst = false
        #expect(try runs(query, limit: limit) == expected, "\(query), \(limit)")
        query.newestFirst = true
        #expect(try runs(query, limit: limit) == expected.reversed(), "\(query), \(limit)")
      }
    }
  }

  @Test("lines that come and go between two pages: the others neither repeat nor are left out")
  func moving() throws {
    try store.apply((1...10).map { .log(record($0, start: Int64($0))) })
    let first = try store.log(limit: 4)
    #expect(first.records.map(\.run) == [10, 9, 8, 7])
    try store.apply([.log(record(11, start: 11)), .log(record(12, start: 2))])
    try store.pruneLog(before: StoreFolder.noon + 2)
    let text = try #require(first.next?.text)
    #expect(text == "1790000007-7")
    #expect(try store.log(after: LogPosition(text), limit: 100).records.map(\.run) == [6, 5, 4, 3, 12, 2])
    for text in ["", "-", "1", "x-1", "1-", "1-2-3", "1--2"] { #expect(LogPosition(text) == nil, "\(text)") }
  }

  @Test("the same run again: one line, the later one")
  func again() throws {
    var one = record(1, start: 0)
    try store.apply([.log(one)])
    one.outcome = .powerCut
    try store.apply([.log(one)])
    #expect(try store.log().records == [one])
  }

  @Test("beyond a number of lines: the runs that were made first go, whatever the clock said of their starts")
  func pruneByNumber() throws {
    // The first half was made by a clock that was ahead.
    try store.apply((1...5_000).map { .log(record($0, start: $0 <= 2_500 ? 1_000_000 : Int64($0))) })
    #expect(try store.pruneLog(beyond: 5_000) == 0)
    #expect(try store.pruneLog(beyond: 100) == 4_900)
    #expect(try store.log(limit: 10_000).records.map(\.run).sorted() == Array(4_901...5_000))
  }

  @Test("a start that is taken back: its lines that tell of no run say why, all others stay, and its key is free")
  func takenBack() throws {
    let key = StartKey(program: 1, start: .clock(minute: 360), date: LocalDate(year: 2026, month: 7, day: 3))
    let start = SuppressedStart(key, due: StoreFolder.noon + 60, why: .missed)
    var lines = (1...4).map { record($0, start: $0 == 4 ? 61 : 60) }
    for index in lines.indices {
      lines[index].program = index == 2 ? 2 : 1
      lines[index].isScheduled = true
      if index != 1 { (lines[index].ranSeconds, lines[index].outcome) = (0, .missed) }
    }
    try store.apply([.started(key), .suppressed(start)] + lines.map { .log($0) })
    #expect(try store.records().suppressed == [start])
    try store.apply([.takenBack(start)])
    #expect(try store.records().suppressed.isEmpty && store.records().startKeys.isEmpty)
    lines[0].outcome = .wrongClock
    #expect(try store.log(LogQuery(newestFirst: false)).records == lines)
  }

  @Test("pruning 7,000 lines: what started before goes, in several transactions, and is counted")
  func prune() throws {
    // All of them in three seconds: more of one start than a transaction removes.
    try store.apply((1...7_000).map { .log(record($0, start: Int64($0 % 3))) })
    #expect(try store.pruneLog(before: StoreFolder.noon) == 0)
    #expect(try store.pruneLog(before: StoreFolder.noon + 2) == 4_667)
    #expect(try store.log(limit: 10_000).records.allSatisfy { $0.start == StoreFolder.noon + 2 })
    #expect(try store.pruneLog(before: StoreFolder.noon + 99) == 2_333)
    #expect(try store.log().records == [])
  }

  @Test(
    "CSV: header, quoted where needed, offsets of the zone's summer and winter time; the same in pieces of any size")
  func csv() throws {
    // 25 October 2026, 02:30 in Berlin, twice.
    let summer = WallInstant(secondsSince1970: 1_792_888_200)
    var first = record(1, start: 0)
    first.start = summer
    first.zoneName = "Lawn, \"front\""
    first.programName = "Two\r\nlines"
    first.caller = "token phone"
    first.ranSeconds = 59.5
    first.litres = 4.5
    var second = record(3, start: 0)
    second.start = summer + 3_600
    second.outcome = .rainDelay
    second.askedLitres = 20
    try store.apply([.log(second), .log(first)])
    let berlin = try ZoneRules(identifier: "Europe/Berlin")
    let expected = #"""
      run,zone,zoneName,program,programName,scheduled,start,askedSeconds,ranSeconds,outcome,caller,why,askedLitres,litres
      1,2,"Lawn, ""front""",1,"Two\#r\#nlines",true,2026-10-25T02:30:00+02:00,60,59.5,completed,token phone,,,4.5
      3,1,Lawn,,,false,2026-10-25T02:30:00+01:00,60,60.0,rainDelay,,,20.0,

      """#.replacing("\r\n", with: "\u{1}").replacing("\n", with: "\r\n").replacing("\u{1}", with: "\r\n")
    for lines in [1, 2, 500] {
      var csv = store.logCSV(zone: berlin, linesAPiece: lines)
      var text = ""
      while let piece = try csv.next() { text += piece }
      #expect(text == expected)
      #expect(try csv.next() == nil)
    }
    var utc = store.logCSV()
    _ = try utc.next()
    #expect(try utc.next()?.contains("2026-10-25T00:30:00Z") == true)
  }

  @Test(
    "CSV: a name that a spreadsheet would take for a formula has an apostrophe before it; other names and numbers have none"
  )
  func formulas() throws {
    let names = [
      "=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "=HYPERLINK(\"http://a\",\"b\")", "Lawn=1", "'=1",
      "Beet-rot",
    ]
    let cells = [
      "'=1+1", "'+1", "'-1", "'@SUM(A1)", "'\t=1", "\"'\r=1\"", "\"'\n=1\"", "'＝1",
      "\"'=HYPERLINK(\"\"http://a\"\",\"\"b\"\")\"", "Lawn=1", "'=1", "Beet-rot",
    ]
    for (name, cell) in zip(names, cells) {
      var line = record(1, start: 0)
      (line.zoneName, line.programName, line.caller, line.ranSeconds) = (name, name, name, -1)
      line.why = name
      try store.apply([.log(line)])
      var csv = store.logCSV()
      _ = try csv.next()
      let text = try #require(try csv.next())
      #expect(
        text
          == "1,2,\(cell),1,\(cell),true,\(line.start.date.formatted(.iso8601)),60,-1.0,completed,\(cell),\(cell),,\r\n"
      )
    }
  }

  @Test("CSV of an empty log: its header")
  func emptyCSV() throws {
    var csv = store.logCSV()
    #expect(try csv.next()?.hasPrefix("run,zone,") == true)
    #expect(try csv.next() == nil)
  }
}
