import GRDB
import StoreSupport
import Tactus
import TestSupport
import Testing
import WallTime

@testable import Store

@Suite("rows of a declared table", .ownThread)
struct StoredRowsTests {
  private static let table = StoredTable(
    "jar_runs",
    columns: [
      StoredColumn("number", .integer(1...9_007_199_254_740_992), mayBeNothing: false),
      StoredColumn("start", .integer(1...253_402_300_799), mayBeNothing: false),
      StoredColumn("seconds", .real(0...1e9), mayBeNothing: false),
      StoredColumn("word", .word(["good", "it's bad"]), mayBeNothing: true),
    ], number: "number", time: "start", isShared: true)
  private static let system = StoreSystem(
    contents: [table.content("runs"), KeptValues.content(of: "jar")],
    migrations: [
      StoreSystem.Migration(name: "jar.1") { try table.make($0) }, KeptValues.migration(of: "jar"),
    ],
    restore: { try table.restore($0) })

  private func open(_ folder: StoreFolder, _ name: String = "rows.sqlite") throws -> StoreFile {
    try StoreFile.open("\(folder.path)/\(name)", systems: [Self.system], at: StoreFolder.noon).file
  }

  private func row(_ number: Int64, _ start: Int64, _ word: String? = "good") -> [StoredValue] {
    [.integer(number), .integer(start), .real(Double(start)), word.map { .text($0) } ?? .nothing]
  }

  @Test(
    "200 random rows of two systems: kept, replaced, found page by page in either order, and after the file was opened anew"
  )
  func model() throws {
    let folder = try StoreFolder()
    var random = SplitMix64(seed: 11)
    var models: [String: [[StoredValue]]] = ["jar/a": [], "jar/b": []]
    for _ in 0..<4 {
      let file = try open(folder)
      for _ in 0..<50 {
        let name = Bool.random(using: &random) ? "jar/a" : "jar/b"
        let rows = StoredRows(Self.table, in: file, of: name)
        var new = row(
          0, Int64.random(in: 1...1_000_000, using: &random), Bool.random(using: &random) ? nil : "it's bad")
        let number = try rows.write(new, by: .byMachine)
        #expect(number == Int64(models[name]!.count + 1))
        new[0] = .integer(number)
        new[2] = .real(7)
        #expect(try rows.write(new, by: .byMachine) == number)
        models[name]!.append(new)
      }
      try file.close()
    }
    let file = try open(folder)
    for (name, model) in models {
      let rows = StoredRows(Self.table, in: file, of: name)
      for isNewestFirst in [false, true] {
        var (found, after): ([[StoredValue]], Int64?) = ([], nil)
        repeat {
          let page = try rows.page(StoredRows.Query(isNewestFirst: isNewestFirst, after: after, limit: 7))
          found += page.rows
          after = page.next
        } while after != nil
        #expect(found == (isNewestFirst ? model.reversed() : model))
      }
      #expect(try rows.row(3) == model[2] && rows.row(0) == nil)
    }
  }

  @Test("pruned by age and by number: never the last row, from which numbers go on, and never another system's")
  func pruning() throws {
    let folder = try StoreFolder()
    let file = try open(folder)
    let (one, other) = (StoredRows(Self.table, in: file, of: "jar/a"), StoredRows(Self.table, in: file, of: "jar/b"))
    for start in [10, 20, 30, 40] as [Int64] {
      try one.write(row(0, start), by: .byMachine)
      try other.write(row(0, start), by: .byMachine)
    }
    #expect(try one.prune(before: WallInstant(secondsSince1970: 20)) == 1)
    #expect(try one.prune(before: WallInstant(secondsSince1970: 20)) == 0)
    #expect(try one.prune(beyond: 2) == 1)
    #expect(try one.page(StoredRows.Query()).rows.map { $0[0] } == [.integer(4), .integer(3)])
    #expect(try one.prune(before: WallInstant(secondsSince1970: 1_000)) == 1)
    #expect(try one.prune(beyond: 0) == 0)
    #expect(try one.write(row(0, 50), by: .byMachine) == 5)
    #expect(try other.page(StoredRows.Query()).rows.count == 4)
    let since = StoredRows.Query(since: WallInstant(secondsSince1970: 20), until: WallInstant(secondsSince1970: 40))
    #expect(try other.page(since).rows.map { $0[0] } == [.integer(3), .integer(2)])
  }

  @Test("a digit that has become another one is found when the store is opened")
  func seal() throws {
    let folder = try StoreFolder()
    let file = try open(folder)
    try StoredRows(Self.table, in: file, of: "jar/a").write(row(0, 10), by: .byPeople)
    try file.close()
    let path = "\(folder.path)/rows.sqlite"
    let queue = try DatabaseQueue(path: path)
    try queue.write { try $0.execute(sql: "UPDATE jar_runs SET start = 11") }
    try queue.close()
    let verdict = try Inspection.verdict(on: path, schema: StoreSchema(systems: [Self.system]))
    #expect(verdict == .damaged(reason: "row 1 of jar_runs is not what was written"))
  }

  @Test(
    "restored: what only the backup has is taken; a row that makes no sense takes back all of it",
    arguments: [(0, 10, "good", true), (7, 10, "good", true), (0, 10, "worse", false), (0, -1, "good", false)]
      as [(Int64, Int64, String, Bool)])
  func restore(number: Int64, start: Int64, word: String, isSound: Bool) throws {
    let folder = try StoreFolder()
    let (file, backup) = (try open(folder), try open(folder, "backup.sqlite"))
    let rows = StoredRows(Self.table, in: file, of: "jar/a")
    try rows.write(row(0, 99), by: .byPeople)
    let others = StoredRows(Self.table, in: backup, of: "jar/a")
    try others.write(row(0, 1), by: .byPeople)
    try others.write(row(number, start, word), by: .byPeople)
    try backup.close()
    func restore() throws {
      try file.write("restoring", by: .byPeople) { database in
        try Self.table.restore(database)
      }
    }
    try file.pool.writeWithoutTransaction {
      try $0.execute(sql: "ATTACH DATABASE ? AS backup", arguments: ["\(folder.path)/backup.sqlite"])
    }
    if isSound { try restore() } else { #expect(throws: StoreError.self) { try restore() } }
    let found = try rows.page(StoredRows.Query()).rows
    #expect(found.last == row(1, 99) && found.count == (isSound ? 2 : 1))
  }

  @Test("kept values: by name, of one system, of every kind; the newest counts")
  func kept() throws {
    let folder = try StoreFolder()
    let file = try open(folder)
    let (one, other) = (
      KeptValues(of: "jar", instance: "jar/a", in: file), KeptValues(of: "jar", instance: "jar/b", in: file)
    )
    #expect(try one.read().isEmpty)
    try one.write(["step": .integer(1), "held": .real(2.5), "word": .text("x"), "gone": .nothing])
    try one.write(["step": .integer(2)])
    try other.write(["step": .integer(9)])
    try file.close()
    let again = KeptValues(of: "jar", instance: "jar/a", in: try open(folder))
    #expect(try again.read() == ["step": .integer(2), "held": .real(2.5), "word": .text("x"), "gone": .nothing])
  }
}
